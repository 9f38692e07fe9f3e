//! Network namespaces: the router's own, where Linux runs the local services (ip-netns(8)).

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use crate::command::{CommandError, ip, run};

/// A named network namespace.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    file: File,
}

impl Namespace {
    /// Opens the namespace `name`, making it if there is none, with its loopback device up and without
    /// forwarding.
    ///
    /// # Errors
    /// Without privilege, or when the name cannot be that of a namespace.
    pub fn open_or_create(name: &str) -> std::io::Result<Self> {
        let path = PathBuf::from("/run/netns").join(name);
        let usable = |file: &File| {
            // A leftover mount point is an ordinary file, which setns(2) refuses.
            std::thread::scope(|scope| scope.spawn(|| enter(file)).join().is_ok_and(|result| result.is_ok()))
        };
        let mut file = File::open(&path).ok().filter(usable);
        if file.is_none() {
            let _ = std::fs::remove_file(&path);
            ip(&format!("netns add {name}")).map_err(std::io::Error::other)?;
            file = File::open(&path).ok();
        }
        let file =
            file.ok_or_else(|| std::io::Error::other(format!("{} cannot be opened", path.display())))?;
        let namespace = Self { name: name.to_owned(), file };
        namespace.ip("link set lo up").map_err(std::io::Error::other)?;
        namespace.set("net/ipv4/ip_forward", "0")?;
        namespace.set("net/ipv6/conf/all/forwarding", "0").or_else(absent)?;
        for scope in ["all", "default"] {
            namespace.set(&format!("net/ipv4/conf/{scope}/rp_filter"), "0")?;
            namespace.set(&format!("net/ipv4/conf/{scope}/accept_redirects"), "0")?;
            namespace.set(&format!("net/ipv4/conf/{scope}/send_redirects"), "0")?;
        }
        namespace.set("net/ipv6/conf/default/disable_ipv6", "1").or_else(absent)?;
        Ok(namespace)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs `ip` with these words inside.
    ///
    /// # Errors
    /// As [`run`].
    pub fn ip(&self, words: &str) -> Result<String, CommandError> {
        ip(&format!("-n {} {words}", self.name))
    }

    /// Runs lines of `ip` inside; those after a refused line still run.
    ///
    /// # Errors
    /// Names the refused lines.
    pub fn ip_batch(&self, lines: &[String]) -> Result<(), CommandError> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut input = lines.join("\n");
        input.push('\n');
        run("ip", &["-n", &self.name, "-force", "-batch", "-"], &input).map(|_| ())
    }

    /// Writes a sysctl inside, by its path under `/proc/sys`.
    ///
    /// # Errors
    /// When there is no such sysctl.
    pub fn set(&self, path: &str, value: &str) -> std::io::Result<()> {
        self.within(|| std::fs::write(format!("/proc/sys/{path}"), value))?
            .map_err(|error| std::io::Error::new(error.kind(), format!("{path}: {error}")))
    }

    /// Runs `work` on a thread of its own that is inside.
    ///
    /// # Errors
    /// When the namespace cannot be entered.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| enter(&self.file).map(|()| work()));
            thread
                .join()
                .unwrap_or_else(|_| Err(std::io::Error::other("the thread inside the namespace died")))
        })
    }

    /// Takes the name away; the namespace ends with its last process.
    ///
    /// # Errors
    /// As [`run`].
    pub fn remove(&self) -> Result<(), CommandError> {
        ip(&format!("netns del {}", self.name)).map(|_| ())
    }
}

fn absent(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Moves the calling thread into a network namespace.
fn enter(file: &File) -> std::io::Result<()> {
    // SAFETY: the call takes a descriptor and a number.
    if unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}
