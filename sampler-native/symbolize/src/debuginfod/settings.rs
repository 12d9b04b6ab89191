//! Where debug files come from: servers, and the cache as elfutils' clients have it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sys;

/// Most servers that are asked, and most bytes of an address.
pub const SERVERS_MAX: usize = 8;
const ADDRESS_MAX: usize = 1024;

/// Where debug files come from, and how much of them is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debuginfod {
    /// Addresses of servers, as in `DEBUGINFOD_URLS`. What begins neither with `http://` nor with
    /// `https://` is left out. Without any, only the cache is read.
    pub servers: Vec<String>,
    /// The folder of the cache.
    pub cache: Option<PathBuf>,
    /// User and group that fetch and own what is fetched, if not those of this process.
    pub user: Option<(u32, u32)>,
    /// Bytes of the largest file that is fetched.
    pub file_max: u64,
    /// Bytes that are fetched in all.
    pub total_max: u64,
    /// The longest time for one file and server.
    pub time_max: Duration,
}

impl Default for Debuginfod {
    /// Neither cache nor servers.
    fn default() -> Debuginfod {
        Debuginfod {
            servers: Vec::new(),
            cache: None,
            user: None,
            file_max: 512 << 20,
            total_max: 2 << 30,
            time_max: Duration::from_secs(120),
        }
    }
}

impl Debuginfod {
    /// The cache that the variables of the environment name, of the user who called sudo, if one
    /// did. `servers`: addresses with spaces between them.
    pub fn of_environment(servers: &str) -> Debuginfod {
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let variable = |name: &str| std::env::var(name).ok();
        let (user, cache) = cache_of(&variable, &passwd, sys::user() == 0, &|path| path.is_dir());
        Debuginfod {
            servers: servers.split_whitespace().map(str::to_owned).collect(),
            cache,
            user,
            ..Debuginfod::default()
        }
    }

    /// The addresses that can be asked, of servers.
    pub(super) fn good_servers(&self) -> Vec<String> {
        let good = |server: &&String| {
            (server.starts_with("http://") || server.starts_with("https://"))
                && server.len() <= ADDRESS_MAX
                && server
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && !b"\"\\<>{}[]".contains(&byte))
        };
        let servers = self.servers.iter().filter(good);
        servers
            .map(|server| server.trim_end_matches('/').to_owned())
            .take(SERVERS_MAX)
            .collect()
    }
}

/// Uid and gid.
type User = (u32, u32);

/// Whose the cache is, if not this process's, and where: as elfutils' clients find it.
fn cache_of(
    variable: &dyn Fn(&str) -> Option<String>,
    passwd: &str,
    root: bool,
    is_folder: &dyn Fn(&Path) -> bool,
) -> (Option<User>, Option<PathBuf>) {
    let caller = variable("SUDO_UID").and_then(|uid| uid.parse::<u32>().ok());
    let caller = caller.filter(|uid| root && *uid != 0);
    let known = caller.and_then(|uid| user_of(uid, passwd));
    // Users of a directory service are not in passwd; sudo tells the group too, but no home.
    let told = || variable("SUDO_GID").and_then(|gid| gid.parse().ok());
    let user = caller.zip(known.as_ref().map(|(gid, _)| *gid).or_else(told));
    let absolute = |path: String| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let named = |name: &str| variable(name).and_then(absolute);
    let home = match (caller, known) {
        (Some(_), known) => known.and_then(|(_, home)| absolute(home)),
        (None, _) => named("HOME"),
    };
    if caller.is_some() && user.is_none() {
        // Nobody who could own what is fetched.
        return (None, None);
    }
    let old = home
        .as_ref()
        .map(|home| home.join(".debuginfod_client_cache"));
    let below = |folder: PathBuf| folder.join("debuginfod_client");
    // Of root's own environment nothing is another user's, except what was meant to be passed on.
    let cache = named("DEBUGINFOD_CACHE_PATH")
        .or_else(|| old.filter(|old| caller.is_none() && is_folder(old)))
        .or_else(|| named("XDG_CACHE_HOME").map(below))
        .or_else(|| home.map(|home| below(home.join(".cache"))));
    (user, cache)
}

/// Group and home of a user.
fn user_of(uid: u32, passwd: &str) -> Option<(u32, String)> {
    let fields = passwd
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let wanted = uid.to_string();
    let found = fields
        .into_iter()
        .find(|fields| fields.get(2) == Some(&wanted.as_str()))?;
    Some((found.get(3)?.parse().ok()?, (*found.get(5)?).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nada:x:1000:1001::/home/ada:/bin/sh\n";

    fn found(
        variables: &[(&str, &str)],
        root: bool,
        folder: &str,
    ) -> (Option<User>, Option<PathBuf>) {
        let variable = |name: &str| {
            let known = variables.iter().find(|(known, _)| *known == name);
            known.map(|(_, value)| (*value).to_owned())
        };
        cache_of(&variable, PASSWD, root, &|path| path == Path::new(folder))
    }

    #[test]
    fn cache_of_environment_is_where_the_clients_of_elfutils_have_it() {
        let at = |path: &str| (None, Some(PathBuf::from(path)));
        let home = ("HOME", "/root");
        assert_eq!(
            found(&[home], true, ""),
            at("/root/.cache/debuginfod_client")
        );
        let xdg = ("XDG_CACHE_HOME", "/var/c");
        assert_eq!(
            found(&[home, xdg], true, ""),
            at("/var/c/debuginfod_client")
        );
        let old = "/root/.debuginfod_client_cache";
        assert_eq!(found(&[home, xdg], true, old), at(old));
        let given = ("DEBUGINFOD_CACHE_PATH", "/srv/d");
        assert_eq!(found(&[home, xdg, given], true, old), at("/srv/d"));
        assert_eq!(found(&[("HOME", "relative")], true, ""), (None, None));
    }

    #[test]
    fn cache_of_sudo_is_that_of_the_caller() {
        let sudo = [("HOME", "/root"), ("SUDO_UID", "1000")];
        let cache = PathBuf::from("/home/ada/.cache/debuginfod_client");
        assert_eq!(found(&sudo, true, ""), (Some((1000, 1001)), Some(cache)));
        let stranger = [("HOME", "/root"), ("SUDO_UID", "77")];
        assert_eq!(found(&stranger, true, ""), (None, None));
        let unlisted = [("HOME", "/root"), ("SUDO_UID", "77"), ("SUDO_GID", "78")];
        assert_eq!(found(&unlisted, true, ""), (Some((77, 78)), None));
        let named = [
            unlisted[1],
            unlisted[2],
            ("DEBUGINFOD_CACHE_PATH", "/srv/d"),
        ];
        let cache = PathBuf::from("/srv/d");
        assert_eq!(found(&named, true, ""), (Some((77, 78)), Some(cache)));
        let root = [("HOME", "/root"), ("SUDO_UID", "0")];
        assert!(matches!(found(&root, true, ""), (None, Some(_))));
    }

    #[test]
    fn good_servers_are_addresses_of_the_web_only() {
        let settings = Debuginfod {
            servers: [
                "https://a.example/x/",
                "http://b.example:8002",
                "file:///etc",
                "ftp://c.example",
                "http://d\"; output = \"/etc/passwd",
                "-http://e.example",
                "ima:enforcing",
            ]
            .map(str::to_owned)
            .to_vec(),
            ..Debuginfod::default()
        };
        assert_eq!(
            settings.good_servers(),
            ["https://a.example/x", "http://b.example:8002"]
        );
    }
}
