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

    /// Name of the namespace.
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

    /// Adds routes, given as words of `ip route`, before those of other programs with the same destination and metric,
    /// which stay (`ip route replace` would take their place). A route that exists already is not an error.
    ///
    /// # Errors
    /// Names the refused lines.
    pub fn add_routes<'a>(&self, routes: impl Iterator<Item = &'a String>) -> Result<(), CommandError> {
        let lines: Vec<String> = routes.map(|route| format!("route prepend {route}")).collect();
        self.ip_batch(&lines).or_else(|error| if only_known(&error.reason) { Ok(()) } else { Err(error) })
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

    /// Removes the name; the namespace ends with its last process.
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

/// Whether `ip -force -batch` refused lines only for what is there already.
fn only_known(reason: &str) -> bool {
    let known =
        |line: &str| line == "RTNETLINK answers: File exists" || line.starts_with("Command failed -:");
    reason.lines().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_added_before_those_of_others_and_take_no_place() {
        let name = format!("tollway-added-{}", std::process::id());
        // Without the privilege to make a namespace there is nothing to look at.
        let Ok(namespace) = Namespace::open_or_create(&name) else { return };
        namespace.ip("link add d0 type veth peer name d1").unwrap();
        let before = [
            "link set dev d1 up",
            "address add 10.0.0.1/24 dev d0",
            "link set dev d0 up",
            "route add 10.7.0.0/16 via 10.0.0.2 proto bird metric 5",
        ];
        namespace.ip_batch(&before.map(str::to_owned)).unwrap();
        let own = [
            "10.7.0.0/16 via 10.0.0.3 dev d0 proto 84 metric 5".to_owned(),
            "10.8.0.0/16 via 10.0.0.3 dev d0 proto 84 metric 1".to_owned(),
        ];
        // The second time all are there already.
        for _ in 0..2 {
            namespace.add_routes(own.iter()).unwrap();
            let routes = namespace.ip("route show 10.7.0.0/16").unwrap();
            let gateways: Vec<&str> =
                routes.split_whitespace().filter(|word| word.starts_with("10.0.0.")).collect();
            assert_eq!(gateways, ["10.0.0.3", "10.0.0.2"], "{routes}");
        }
        let refused = ["10.9.0.0/16 via 172.16.0.1 proto 84".to_owned(), own[0].clone()];
        assert!(namespace.add_routes(refused.iter()).is_err());
        namespace.ip_batch(&own.map(|route| format!("route del {route}"))).unwrap();
        assert!(namespace.ip("route show 10.7.0.0/16").unwrap().contains("via 10.0.0.2"));
        namespace.remove().unwrap();
    }
}
