//! The `maxmargin` program: typed arguments, then a plan, then a command, then a report.

mod arguments;
mod checkpoint_file;
mod commands;
mod drop_in;
mod exit;
mod failure;
mod feed;
mod input;
mod interrupt;
mod model_file;
mod output;
mod picture;
mod progress;
mod report;
mod size;
mod tables;
mod time_left;
mod trace;

/// What is read is touched for the first time, and that costs by the page.
#[global_allocator]
static ALLOCATOR: maxmargin_pages::LargePages = maxmargin_pages::LargePages;

fn main() -> std::process::ExitCode {
    exit::say_when_it_is_our_bug();
    interrupt::listen();
    if let Some((program, words)) = drop_in::called(std::env::args_os()) {
        return drop_in::run(program, &words).into();
    }
    let done = match arguments::Arguments::read() {
        Ok(arguments) => commands::run(&arguments).unwrap_or_else(failure::Failure::tell),
        Err(code) => code,
    };
    done.into()
}
