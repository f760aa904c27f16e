//! Saving so that a file is either the old one or the new one, whole, also when the power goes.
//!
//! ```text
//! create a file without a name in the same folder -> write -> permissions -> sync -> name -> rename -> sync the folder
//! ```
//!
//! The system removes a file without a name when the process ends, however it ends. A new file is given its own name
//! straight away. A file that replaces another first gets a temporary name, for the moment until it is renamed. The rename
//! is the one step that shows the new file, and the system does it as a whole. Syncing the folder makes the rename durable.
//!
//! Where the system knows no files without names, the temporary file has its name from the beginning. A process that is
//! killed can leave such a file behind, so each save removes those that it finds in its folder. A writer holds a lock on
//! its file for as long as it lives: a temporary file that nobody has locked belongs to nobody.

use std::fs::{self, File, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::error::{Error, reason};

/// Saves bytes under a name: all of them, durably, or nothing.
///
/// A file that is replaced keeps its permissions, and a link keeps pointing to it; a new file gets those that are usual.
/// Devices and pipes, such as `/dev/stdout`, are written to straight.
///
/// # Errors
/// When the file cannot be saved, or is write-protected. Then the old file is as it was and nothing is left behind, but
/// for one case that the message tells: the new file is in place, and only making that durable failed.
///
/// # Examples
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model");
/// maxmargin_io::save_atomically(&path, b"first")?;
/// maxmargin_io::save_atomically(&path, b"second")?;
/// assert_eq!(std::fs::read(&path)?, b"second");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    save_over(path, None, bytes)
}

/// [`save_atomically`], and the file that is replaced keeps on living under the name `previous`, where one is given.
///
/// ```text
/// ... sync -> remove the previous file -> link the old file to its name -> rename -> sync the folder
/// ```
///
/// At each moment the old or the new file is there under `path`, whole. (On a file system without links the old file is
/// moved, and for a moment it is there under `previous` only.)
///
/// # Errors
/// As [`save_atomically`].
pub(crate) fn save_over(path: &Path, previous: Option<&Path>, bytes: &[u8]) -> Result<(), Error> {
    save(&mut Disk, path, previous, bytes).map_err(|fault| save_error(&path.to_string_lossy(), fault))
}

/// What went wrong at which step, as the user reads it.
fn save_error(path: &str, (step, error): (Step, io::Error)) -> Error {
    Error::Save {
        path: path.into(),
        step: step.text(),
        reason: match (step, error.kind()) {
            (Step::Create, io::ErrorKind::NotFound) => "there is no such folder".into(),
            _ => reason(&error),
        },
        help: step.help(&error).into(),
    }
}

/// What was being done when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Look,
    Create,
    Write,
    Protect,
    Sync,
    Keep,
    Name,
    Rename,
    SyncFolder,
}

impl Step {
    fn text(self) -> &'static str {
        match self {
            Step::Look => "looking at the file to replace",
            Step::Create => "making a temporary file in its folder",
            Step::Write => "writing",
            Step::Protect => "setting permissions",
            Step::Sync => "syncing to disk",
            Step::Keep => "keeping the file that is replaced",
            Step::Name => "giving the new file a name",
            Step::Rename => "renaming the temporary file",
            Step::SyncFolder => "syncing the folder; the new file is in place",
        }
    }

    fn help(self, error: &io::Error) -> &'static str {
        match (self, error.kind()) {
            (Step::SyncFolder, _) => "save once more to be sure that it outlasts a power cut",
            (_, io::ErrorKind::IsADirectory) => "name a file in it",
            (Step::Look, io::ErrorKind::PermissionDenied) => "make the file writable, or choose another name",
            (_, io::ErrorKind::NotFound) => "make the folder first, or choose another",
            (_, io::ErrorKind::PermissionDenied) => "choose a folder that you may write to",
            (_, io::ErrorKind::StorageFull) => "make room, or choose another disk",
            _ => "choose another folder or disk",
        }
    }
}

/// The file operations of a save, so that a test can make each of them fail.
trait Operations {
    /// The permissions of the file at a path, if there is one.
    fn look(&mut self, path: &Path) -> io::Result<Option<fs::Metadata>>;
    fn create(&mut self, folder: &Path) -> io::Result<Draft>;
    fn write(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    fn protect(&mut self, file: &File, permissions: Permissions) -> io::Result<()>;
    fn sync(&mut self, file: &File) -> io::Result<()>;
    fn remove(&mut self, path: &Path) -> io::Result<()>;
    fn link(&mut self, path: &Path, other: &Path) -> io::Result<()>;
    /// Gives a file without a name this one, unless there is a file of that name; whether it has it now.
    fn name_new(&mut self, file: &File, path: &Path) -> io::Result<bool>;
    /// Gives a file without a name a temporary one.
    fn name(&mut self, file: &mut File, folder: &Path) -> io::Result<TempPath>;
    fn rename(&mut self, file: TempPath, path: &Path) -> io::Result<()>;
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()>;
}

/// A file that is being written. Its lock is held until it is dropped.
#[derive(Debug)]
enum Draft {
    /// The system removes it when the process ends.
    Unnamed(File),
    /// It is removed when dropped, which is on every way out but the rename.
    Named(NamedTempFile),
}

impl Draft {
    fn file(&self) -> &File {
        match self {
            Draft::Unnamed(file) => file,
            Draft::Named(file) => file.as_file(),
        }
    }

    fn file_mut(&mut self) -> &mut File {
        match self {
            Draft::Unnamed(file) => file,
            Draft::Named(file) => file.as_file_mut(),
        }
    }
}

/// How the names of temporary files begin and end: by these they are known again.
const PREFIX: &str = ".maxmargin-";
const SUFFIX: &str = ".tmp";
/// The most entries of a folder that are looked at for old temporary files: a save must not take long for a full folder.
const MOST_ENTRIES: usize = 100_000;

/// Makes a temporary name in a folder, and something under it.
fn under_temporary_name<T>(folder: &Path, make: impl FnMut(&Path) -> io::Result<T>) -> io::Result<NamedTempFile<T>> {
    tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).make_in(folder, make)
}

/// A file without a name, where the system has them and can name them later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    // The name is given by way of this folder.
    if !Path::new("/proc/self/fd").is_dir() {
        return None;
    }
    // As for any new file: the system takes away what the user's mask forbids.
    let mode = Mode::from_raw_mode(0o666);
    rustix::fs::open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

/// Gives a file without a name this one.
#[cfg(target_os = "linux")]
fn link_unnamed(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{AtFlags, CWD, linkat};
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link_unnamed(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A file with a temporary name, locked.
fn named(folder: &Path) -> io::Result<NamedTempFile> {
    loop {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder)?;
        // Some file systems have no locks; there nobody takes the file for an old one either.
        let is_locked = file.as_file().lock().is_ok();
        // Before it was locked, another process may have taken it for an old one.
        if !is_locked || file.path().exists() {
            return Ok(file);
        }
    }
}

/// Removes the temporary files of processes that are no longer there. What cannot be removed is left.
fn clear_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(MOST_ENTRIES).flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let path = entry.path();
            // The lock is held until the file is removed: who makes a file and then gets its lock sees that it is gone.
            if let Ok(file) = File::open(&path)
                && file.try_lock().is_ok()
            {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// The real file operations.
struct Disk;

impl Operations for Disk {
    fn look(&mut self, path: &Path) -> io::Result<Option<fs::Metadata>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn create(&mut self, folder: &Path) -> io::Result<Draft> {
        clear_old(folder);
        match unnamed(folder) {
            Some(file) => Ok(Draft::Unnamed(file)),
            None => named(folder).map(Draft::Named),
        }
    }

    fn write(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn protect(&mut self, file: &File, permissions: Permissions) -> io::Result<()> {
        file.set_permissions(permissions)
    }

    fn sync(&mut self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    fn link(&mut self, path: &Path, other: &Path) -> io::Result<()> {
        // Some file systems know no links: there the file is moved.
        fs::hard_link(path, other).or_else(|_| fs::rename(path, other))
    }

    fn name_new(&mut self, file: &File, path: &Path) -> io::Result<bool> {
        // Whatever is in the way, a temporary name and a rename are the other way to do it.
        Ok(link_unnamed(file, path).is_ok())
    }

    fn name(&mut self, file: &mut File, folder: &Path) -> io::Result<TempPath> {
        let _ = file.lock();
        if let Ok(linked) = under_temporary_name(folder, |path| link_unnamed(file, path)) {
            return Ok(linked.into_temp_path());
        }
        // A system that makes files without names and cannot name them: its bytes go into one that has a name.
        let mut copy = named(folder)?;
        copy.as_file().set_permissions(file.metadata()?.permissions())?;
        file.seek(SeekFrom::Start(0))?;
        io::copy(file, copy.as_file_mut())?;
        copy.as_file().sync_all()?;
        Ok(copy.into_temp_path())
    }

    fn rename(&mut self, file: TempPath, path: &Path) -> io::Result<()> {
        file.persist(path).map_err(|error| error.error)
    }

    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        if cfg!(not(unix)) {
            return Ok(());
        }
        match File::open(folder)?.sync_all() {
            // Some file systems cannot sync a folder; then there is nothing more to do.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            result => result,
        }
    }
}

fn save(
    operations: &mut impl Operations,
    path: &Path,
    previous: Option<&Path>,
    bytes: &[u8],
) -> Result<(), (Step, io::Error)> {
    let at = |step: Step| move |error: io::Error| (step, error);
    let mut begun = begin(operations, path)?;
    operations.write(begun.file_mut(), bytes).map_err(at(Step::Write))?;
    commit(operations, begun, previous)
}

/// A save between its first byte and its last.
enum Begun {
    /// A device or pipe, which is written to straight; or a file that never gets a name.
    Device(File),
    /// A file that nobody sees until it is whole.
    Temporary { draft: Draft, path: PathBuf, old: Option<Permissions> },
}

impl Begun {
    fn file_mut(&mut self) -> &mut File {
        match self {
            Begun::Device(file) => file,
            Begun::Temporary { draft, .. } => draft.file_mut(),
        }
    }
}

/// Looks at what is there, and makes the temporary file.
fn begin(operations: &mut impl Operations, path: &Path) -> Result<Begun, (Step, io::Error)> {
    let at = |step: Step| move |error: io::Error| (step, error);
    let old = operations.look(path).map_err(at(Step::Look))?;
    if let Some(old) = &old {
        if old.is_dir() {
            return Err((Step::Look, io::ErrorKind::IsADirectory.into()));
        }
        if !old.is_file() {
            return File::options().write(true).open(path).map(Begun::Device).map_err(at(Step::Create));
        }
        if old.permissions().readonly() {
            return Err((Step::Look, io::ErrorKind::PermissionDenied.into()));
        }
    }
    let path = follow(path).map_err(at(Step::Look))?;
    let draft = operations.create(folder_of(&path)).map_err(at(Step::Create))?;
    Ok(Begun::Temporary { draft, path, old: old.map(|old| old.permissions()) })
}

/// Makes what was written the file, durably.
fn commit(operations: &mut impl Operations, begun: Begun, previous: Option<&Path>) -> Result<(), (Step, io::Error)> {
    let at = |step: Step| move |error: io::Error| (step, error);
    let Begun::Temporary { mut draft, path, old } = begun else { return Ok(()) };
    let (replaces, folder) = (old.is_some(), folder_of(&path));
    if let Some(permissions) = old {
        operations.protect(draft.file(), permissions).map_err(at(Step::Protect))?;
    }
    operations.sync(draft.file()).map_err(at(Step::Sync))?;
    if let (Some(previous), true) = (previous, replaces) {
        operations.remove(previous).map_err(at(Step::Keep))?;
        operations.link(&path, previous).map_err(at(Step::Keep))?;
    }
    if let (Draft::Unnamed(file), false) = (&draft, replaces)
        && operations.name_new(file, &path).map_err(at(Step::Name))?
    {
        return operations.sync_folder(folder).map_err(at(Step::SyncFolder));
    }
    // The file stays open, and so locked, until it is renamed.
    let (named, _file) = match draft {
        Draft::Unnamed(ref mut file) => (operations.name(file, folder).map_err(at(Step::Name))?, None),
        Draft::Named(file) => {
            let (file, named) = file.into_parts();
            (named, Some(file))
        }
    };
    operations.rename(named, &path).map_err(at(Step::Rename))?;
    operations.sync_folder(folder).map_err(at(Step::SyncFolder))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file that is written piece by piece, and is there only once [`AtomicFile::commit`] has been called: as
/// [`save_atomically`], for what does not fit into memory.
///
/// When it is dropped before that, what was there is as it was and nothing is left behind.
///
/// # Examples
/// ```
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("data");
/// let mut file = maxmargin_io::AtomicFile::create(&path)?;
/// file.write_all(b"first ")?;
/// file.write_all(b"second")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"first second");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AtomicFile {
    shown: String,
    begun: Begun,
}

impl AtomicFile {
    /// Begins to write a file.
    ///
    /// # Errors
    /// As [`save_atomically`].
    pub fn create(path: &Path) -> Result<Self, Error> {
        let shown = path.to_string_lossy().into_owned();
        let begun = begin(&mut Disk, path).map_err(|fault| save_error(&shown, fault))?;
        Ok(AtomicFile { shown, begun })
    }

    /// Begins to write a file that never gets a name: the system removes it when it is closed. Messages call it `shown`.
    ///
    /// # Errors
    /// When none can be made in the folder.
    pub(crate) fn nameless(folder: &Path, shown: &str) -> Result<Self, Error> {
        let made = tempfile::tempfile_in(folder).map_err(|error| save_error(shown, (Step::Create, error)))?;
        Ok(AtomicFile { shown: shown.into(), begun: Begun::Device(made) })
    }

    /// The file that is being written to.
    pub(crate) fn into_file(self) -> File {
        match self.begun {
            Begun::Device(file) | Begun::Temporary { draft: Draft::Unnamed(file), .. } => file,
            Begun::Temporary { draft: Draft::Named(file), .. } => file.into_file(),
        }
    }

    /// Whether this is a device or a pipe, which is written to straight and knows no way back.
    pub(crate) fn is_device(&self) -> bool {
        matches!(self.begun, Begun::Device(_))
    }

    /// The folder that the file will be in.
    pub(crate) fn folder(&self) -> &Path {
        match &self.begun {
            Begun::Device(_) => Path::new("."),
            Begun::Temporary { path, .. } => folder_of(path),
        }
    }

    /// The name that the file will have, for messages.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Makes what was written the file, durably.
    ///
    /// # Errors
    /// As [`save_atomically`].
    pub fn commit(self) -> Result<(), Error> {
        commit(&mut Disk, self.begun, None).map_err(|fault| save_error(&self.shown, fault))
    }

    /// The error of a write that failed, as [`save_atomically`] tells it.
    pub(crate) fn write_error(&self, error: io::Error) -> Error {
        save_error(&self.shown, (Step::Write, error))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.begun.file_mut().flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.begun.file_mut().seek(place)
    }
}

/// The file that a name stands for in the end, whether it is there yet or not.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&path) {
            // A relative link counts from the folder it lies in; an absolute one replaces it.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links that point to each other"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails at the k-th operation, counted from 0; a write that fails has written half.
    struct Faulty {
        fail_at: usize,
        done: usize,
        /// Whether the system has no files without names.
        has_names_only: bool,
    }

    impl Faulty {
        fn step(&mut self) -> io::Result<()> {
            self.done += 1;
            if self.done == self.fail_at + 1 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl Operations for Faulty {
        fn look(&mut self, path: &Path) -> io::Result<Option<fs::Metadata>> {
            self.step()?;
            Disk.look(path)
        }
        fn create(&mut self, folder: &Path) -> io::Result<Draft> {
            self.step()?;
            if self.has_names_only { named(folder).map(Draft::Named) } else { Disk.create(folder) }
        }
        fn write(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
            if let Err(error) = self.step() {
                Disk.write(file, &bytes[..bytes.len() / 2])?;
                return Err(error);
            }
            Disk.write(file, bytes)
        }
        fn protect(&mut self, file: &File, permissions: Permissions) -> io::Result<()> {
            self.step()?;
            Disk.protect(file, permissions)
        }
        fn sync(&mut self, file: &File) -> io::Result<()> {
            self.step()?;
            Disk.sync(file)
        }
        fn remove(&mut self, path: &Path) -> io::Result<()> {
            self.step()?;
            Disk.remove(path)
        }
        fn link(&mut self, path: &Path, other: &Path) -> io::Result<()> {
            self.step()?;
            Disk.link(path, other)
        }
        fn name_new(&mut self, file: &File, path: &Path) -> io::Result<bool> {
            self.step()?;
            Disk.name_new(file, path)
        }
        fn name(&mut self, file: &mut File, folder: &Path) -> io::Result<TempPath> {
            self.step()?;
            Disk.name(file, folder)
        }
        fn rename(&mut self, file: TempPath, path: &Path) -> io::Result<()> {
            self.step()?;
            Disk.rename(file, path)
        }
        fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
            self.step()?;
            Disk.sync_folder(folder)
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Whether the steps of a system are known that has no files without names; else those of this one.
    const SYSTEMS: [bool; 2] = [false, true];

    /// The steps that show a file, of a system.
    fn naming(has_names_only: bool, replaces: bool) -> Vec<Step> {
        match (has_names_only || cfg!(not(target_os = "linux")), replaces) {
            (true, _) => vec![Step::Rename],
            (false, true) => vec![Step::Name, Step::Rename],
            (false, false) => vec![Step::Name],
        }
    }

    #[test]
    fn whichever_operation_fails_the_file_is_whole_and_nothing_is_left_behind() {
        for (old, has_names_only) in
            [None, Some(&b"the old content"[..])].into_iter().flat_map(|old| SYSTEMS.map(|has| (old, has)))
        {
            let mut steps = Vec::new();
            for fail_at in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("model");
                old.iter().for_each(|old| fs::write(&path, old).unwrap());
                let mut faulty = Faulty { fail_at, done: 0, has_names_only };
                let result = save(&mut faulty, &path, None, b"the new content");
                let content = fs::read(&path).ok();
                let Err((step, _)) = result else {
                    assert_eq!(content.as_deref(), Some(&b"the new content"[..]));
                    assert_eq!(names(folder.path()), ["model"]);
                    break;
                };
                // Only the last step comes after the rename.
                let expected = if step == Step::SyncFolder { Some(&b"the new content"[..]) } else { old };
                assert_eq!(content.as_deref(), expected, "{step:?}");
                assert_eq!(names(folder.path()).len(), usize::from(expected.is_some()), "{step:?}");
                steps.push(step);
            }
            // The negative control: every step has failed once.
            let mut all = vec![Step::Look, Step::Create, Step::Write];
            all.extend(old.map(|_| Step::Protect));
            all.push(Step::Sync);
            all.extend(naming(has_names_only, old.is_some()));
            all.push(Step::SyncFolder);
            assert_eq!(steps, all);
        }
    }

    #[test]
    fn whichever_operation_fails_one_of_two_files_that_are_kept_is_whole() {
        for has_names_only in SYSTEMS {
            let mut steps = Vec::new();
            for fail_at in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let (path, previous) = (folder.path().join("checkpoint"), folder.path().join("checkpoint.previous"));
                fs::write(&previous, "first").unwrap();
                fs::write(&path, "second").unwrap();
                let mut faulty = Faulty { fail_at, done: 0, has_names_only };
                let result = save(&mut faulty, &path, Some(&previous), b"third");
                let (content, older) = (fs::read_to_string(&path).unwrap(), fs::read_to_string(&previous).ok());
                let Err((step, _)) = result else {
                    assert_eq!((content.as_str(), older.as_deref()), ("third", Some("second")));
                    break;
                };
                assert_eq!(content, if step == Step::SyncFolder { "third" } else { "second" }, "{step:?}");
                assert!(names(folder.path()).iter().all(|name| name.starts_with("checkpoint")), "{step:?}");
                steps.push(step);
            }
            let kept = steps.iter().filter(|step| **step == Step::Keep).count();
            assert_eq!((kept, steps.len()), (2, 8 + naming(has_names_only, true).len()), "{steps:?}");
        }
    }

    #[test]
    fn a_file_that_another_process_makes_meanwhile_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"ours").unwrap();
        fs::write(&path, "theirs").unwrap();
        file.commit().unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"ours".to_vec(), vec!["model".to_string()]));
    }

    #[test]
    fn old_temporary_files_of_ours_are_cleared_and_those_of_others_are_left() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| fs::write(folder.path().join(name), "old").unwrap();
        [".maxmargin-Ab12Cd.tmp", ".maxmargin-Ab12Cd", "maxmargin-Ab12Cd.tmp", ".other-Ab12Cd.tmp"]
            .into_iter()
            .for_each(put);
        fs::create_dir(folder.path().join(".maxmargin-folder.tmp")).unwrap();
        // A process that is still there has locked its file.
        let alive = named(folder.path()).unwrap();
        let alive_name = alive.path().file_name().unwrap().to_str().unwrap().to_string();
        save_atomically(&folder.path().join("model"), b"new").unwrap();
        let mut left = vec![".maxmargin-Ab12Cd".into(), ".maxmargin-folder.tmp".into(), ".other-Ab12Cd.tmp".into()];
        left.extend([alive_name, "maxmargin-Ab12Cd.tmp".into(), "model".into()]);
        left.sort();
        assert_eq!(names(folder.path()), left);
        drop(alive);
    }

    #[test]
    fn a_name_without_a_folder_is_saved_here() {
        assert_eq!(follow(Path::new("model")).unwrap(), Path::new("model"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let error = save_atomically(&folder.path().join("no/model"), b"x").unwrap_err();
        assert!(error.to_string().ends_with("there is no such folder (while making a temporary file in its folder)"));
        assert_eq!(error.help(), "make the folder first, or choose another");
        let error = save_atomically(folder.path(), b"x").unwrap_err();
        assert!(error.to_string().ends_with("it is a folder (while looking at the file to replace)"), "{error}");
        assert_eq!(error.help(), "name a file in it");
    }

    #[cfg(unix)]
    mod unix {
        use super::*;
        use std::os::unix::fs::{PermissionsExt, symlink};

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        }

        #[test]
        fn a_file_that_is_replaced_keeps_its_permissions() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model");
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
            save_atomically(&path, b"new").unwrap();
            assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"new".to_vec(), 0o640));
        }

        #[test]
        fn a_new_file_gets_the_permissions_that_any_new_file_gets() {
            let folder = tempfile::tempdir().unwrap();
            let (ours, usual) = (folder.path().join("ours"), folder.path().join("usual"));
            save_atomically(&ours, b"new").unwrap();
            fs::write(&usual, "new").unwrap();
            assert_eq!(mode(&ours), mode(&usual));
        }

        #[test]
        fn a_write_protected_file_is_not_replaced() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model");
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
            let error = save_atomically(&path, b"new").unwrap_err();
            assert_eq!(error.help(), "make the file writable, or choose another name");
            assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"old".to_vec(), 1));
        }

        #[test]
        fn a_link_keeps_pointing_to_the_file_that_is_replaced() {
            let folder = tempfile::tempdir().unwrap();
            let (link, file) = (folder.path().join("link"), folder.path().join("file"));
            // The first save goes through a link to a file that is not there yet.
            symlink("file", &link).unwrap();
            for content in ["first", "second"] {
                save_atomically(&link, content.as_bytes()).unwrap();
                assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
                assert_eq!(fs::read_to_string(&file).unwrap(), content);
            }
            assert_eq!(names(folder.path()), ["file", "link"]);
        }

        #[test]
        fn links_in_a_circle_are_an_error() {
            let folder = tempfile::tempdir().unwrap();
            symlink("b", folder.path().join("a")).unwrap();
            symlink("a", folder.path().join("b")).unwrap();
            assert!(save_atomically(&folder.path().join("a"), b"x").is_err());
            assert_eq!(names(folder.path()), ["a", "b"]);
        }

        #[test]
        fn a_device_is_written_to_and_not_replaced() {
            use std::os::unix::fs::FileTypeExt;
            save_atomically(Path::new("/dev/null"), b"new").unwrap();
            assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        }
    }
}
