//! Saving so that a file is either the old one or the new one, whole, also when the power goes.
//!
//! ```text
//! create a temporary file in the same folder -> write -> permissions -> sync -> rename -> sync the folder
//! ```
//!
//! Up to the rename nothing but the temporary file has changed, and it is removed on failure. The rename is the
//! one step that shows the new file, and the system does it as a whole. Syncing the folder makes the rename durable.

use std::fs::{self, File, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

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
    fn create(&mut self, folder: &Path) -> io::Result<NamedTempFile>;
    fn write(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    fn protect(&mut self, file: &File, permissions: Permissions) -> io::Result<()>;
    fn sync(&mut self, file: &File) -> io::Result<()>;
    fn remove(&mut self, path: &Path) -> io::Result<()>;
    fn link(&mut self, path: &Path, other: &Path) -> io::Result<()>;
    fn rename(&mut self, file: NamedTempFile, path: &Path) -> io::Result<()>;
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()>;
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

    fn create(&mut self, folder: &Path) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".maxmargin-").suffix(".tmp");
        // As for any new file: the system takes away what the user's mask forbids.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder.tempfile_in(folder)
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

    fn rename(&mut self, file: NamedTempFile, path: &Path) -> io::Result<()> {
        file.persist(path).map(drop).map_err(|error| error.error)
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
    /// A device or pipe, which is written to straight.
    Device(File),
    /// A temporary file, removed when dropped, which is on every way out but the rename.
    Temporary { file: NamedTempFile, path: PathBuf, old: Option<Permissions> },
}

impl Begun {
    fn file_mut(&mut self) -> &mut File {
        match self {
            Begun::Device(file) => file,
            Begun::Temporary { file, .. } => file.as_file_mut(),
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
    let file = operations.create(folder_of(&path)).map_err(at(Step::Create))?;
    Ok(Begun::Temporary { file, path, old: old.map(|old| old.permissions()) })
}

/// Makes what was written the file, durably.
fn commit(operations: &mut impl Operations, begun: Begun, previous: Option<&Path>) -> Result<(), (Step, io::Error)> {
    let at = |step: Step| move |error: io::Error| (step, error);
    let Begun::Temporary { file, path, old } = begun else { return Ok(()) };
    let replaces = old.is_some();
    if let Some(permissions) = old {
        operations.protect(file.as_file(), permissions).map_err(at(Step::Protect))?;
    }
    operations.sync(file.as_file()).map_err(at(Step::Sync))?;
    if let (Some(previous), true) = (previous, replaces) {
        operations.remove(previous).map_err(at(Step::Keep))?;
        operations.link(&path, previous).map_err(at(Step::Keep))?;
    }
    operations.rename(file, &path).map_err(at(Step::Rename))?;
    operations.sync_folder(folder_of(&path)).map_err(at(Step::SyncFolder))
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

    /// The file that is written to meanwhile, if it is one: whoever ends the program without dropping this removes it.
    pub fn temporary(&self) -> Option<&Path> {
        match &self.begun {
            Begun::Device(_) => None,
            Begun::Temporary { file, .. } => Some(file.path()),
        }
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
        fn create(&mut self, folder: &Path) -> io::Result<NamedTempFile> {
            self.step()?;
            Disk.create(folder)
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
        fn rename(&mut self, file: NamedTempFile, path: &Path) -> io::Result<()> {
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

    #[test]
    fn whichever_operation_fails_the_file_is_whole_and_nothing_is_left_behind() {
        for old in [None, Some(&b"the old content"[..])] {
            let mut steps = Vec::new();
            for fail_at in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("model");
                old.iter().for_each(|old| fs::write(&path, old).unwrap());
                let result = save(&mut Faulty { fail_at, done: 0 }, &path, None, b"the new content");
                let content = fs::read(&path).ok();
                let Err((step, _)) = result else {
                    assert_eq!(content.as_deref(), Some(&b"the new content"[..]));
                    break;
                };
                // Only the last step comes after the rename.
                let expected = if step == Step::SyncFolder { Some(&b"the new content"[..]) } else { old };
                assert_eq!(content.as_deref(), expected, "{step:?}");
                assert_eq!(names(folder.path()).len(), usize::from(expected.is_some()), "{step:?}");
                steps.push(step);
            }
            // The negative control: every step has failed once.
            let protect = old.map(|_| Step::Protect);
            let mut all = vec![Step::Look, Step::Create, Step::Write];
            all.extend(protect.into_iter().chain([Step::Sync, Step::Rename, Step::SyncFolder]));
            assert_eq!(steps, all);
        }
    }

    #[test]
    fn whichever_operation_fails_one_of_two_files_that_are_kept_is_whole() {
        let mut steps = Vec::new();
        for fail_at in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let (path, previous) = (folder.path().join("checkpoint"), folder.path().join("checkpoint.previous"));
            fs::write(&previous, "first").unwrap();
            fs::write(&path, "second").unwrap();
            let result = save(&mut Faulty { fail_at, done: 0 }, &path, Some(&previous), b"third");
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
        assert_eq!((kept, steps.len()), (2, 9), "{steps:?}");
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
