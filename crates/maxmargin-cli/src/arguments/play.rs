//! The arguments of `play`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Open the playground in the browser: draw points, change the model, watch the solver
#[derive(Args, Debug)]
#[command(after_help = "\
The page comes from this program and asks nobody else. It listens on this machine only, unless --listen names another address.

Examples:
  maxmargin play
  maxmargin play iris
  maxmargin play mine.csv
  maxmargin play 'http://127.0.0.1:8081/#v=1&d=e3&k=poly&g=1&c0=1&C=4'")]
pub(crate) struct Play {
    /// Points to begin with: a file whose last column is the label, a name (e1 to e10, iris, blobs, xor, rings, moons, far-blob), or a link
    /// of the page [default: e2]
    #[arg(value_name = "DATA|LINK")]
    pub(crate) begin: Option<PathBuf>,
    /// The address to listen on; port 0 is any that is free [default: 127.0.0.1:8081, or a free port where that is taken]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Open no browser, and only print the address
    #[arg(long)]
    pub(crate) no_browser: bool,
}
