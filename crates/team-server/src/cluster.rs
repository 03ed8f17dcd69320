//! A cluster that ends with the test process.

use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{certificates, programs};

/// A server that listens on 127.0.0.1 and on a socket in its own folder, with TLS and passwords.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    run_as: Option<(u32, u32)>,
    port: u16,
    databases: AtomicU32,
    /// Its stdin closes when this process ends.
    watch: Child,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Closes connections first.
    Fast,
    /// As after a power cut: the log is replayed at the next start.
    Immediate,
}

impl Cluster {
    /// The password of all roles but the administrator; unique, so that a search for it finds nothing else, and with
    /// characters that an address has to escape.
    pub const PASSWORD: &str = "tide/p@ss:w?rd%7Q";

    /// Not a superuser; owns every database.
    pub const USER: &str = "team";

    pub fn start() -> Result<Cluster, String> {
        Cluster::start_with("fsync = off\nmax_connections = 50\nshared_buffers = 16MB\n")
    }

    /// `settings` are lines of `postgresql.conf`.
    pub fn start_with(settings: &str) -> Result<Cluster, String> {
        let programs = programs::find_folder()?;
        let run_as = programs::unprivileged_user()?;
        let folder = tempfile::Builder::new()
            .prefix("tidegate-pg-")
            .tempdir()
            .map_err(|error| error.to_string())?
            .keep();
        let watch = start_watch(&folder, &programs, run_as).map_err(|error| format!("sh: {error}"))?;
        let port = free_port().map_err(|error| error.to_string())?;
        let mut cluster = Cluster { folder, programs, run_as, port, databases: AtomicU32::new(0), watch };
        cluster.create(settings)?;
        // Somebody else may have taken the port meanwhile.
        if cluster.start_again().is_err() {
            cluster.port = free_port().map_err(|error| error.to_string())?;
            cluster.append("postgresql.conf", &format!("port = {}\n", cluster.port))?;
            cluster.start_again()?;
        }
        cluster.sql(
            "postgres",
            &format!("CREATE ROLE {} LOGIN CREATEROLE PASSWORD '{}'", Cluster::USER, Cluster::PASSWORD),
        )?;
        Ok(cluster)
    }

    fn create(&self, settings: &str) -> Result<(), String> {
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o755))
            .map_err(|error| error.to_string())?;
        let certificates = self.folder.join("certificates");
        fs::create_dir(&certificates).map_err(|error| error.to_string())?;
        certificates::create(&certificates)?;
        self.give_away(&certificates.join("server.key"))?;
        self.give_away(&certificates)?;
        self.give_away(&self.folder)?;
        let mut initdb = self.command("initdb");
        initdb.args(["--username=admin", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"]);
        run_to_end(initdb.arg(self.data()))?;
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = '{}'\nssl = on\n\
             ssl_cert_file = '{certificates}/server.crt'\nssl_key_file = '{certificates}/server.key'\n\
             log_statement = 'none'\n{settings}",
            self.port,
            self.folder.display(),
            certificates = certificates.display(),
        );
        self.append("postgresql.conf", &settings)?;
        // Passwords for all roles but the one that creates databases.
        let access =
            "local all admin trust\nlocal all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n";
        fs::write(self.data().join("pg_hba.conf"), access).map_err(|error| error.to_string())
    }

    fn append(&self, file: &str, text: &str) -> Result<(), String> {
        let opened = fs::OpenOptions::new().append(true).open(self.data().join(file));
        opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| error.to_string())
    }

    /// After [`Cluster::stop`].
    pub fn start_again(&self) -> Result<(), String> {
        let log = self.folder.join("log");
        let mut start = self.command("pg_ctl");
        start.args(["start", "--wait", "--silent", "-D"]).arg(self.data()).arg("-l").arg(&log);
        run_to_end(&mut start)
            .map_err(|why| format!("{why}\n{}", fs::read_to_string(log).unwrap_or_default()))
    }

    pub fn stop(&self, how: Shutdown) -> Result<(), String> {
        let mode = match how {
            Shutdown::Fast => "fast",
            Shutdown::Immediate => "immediate",
        };
        run_to_end(
            self.command("pg_ctl").args(["stop", "--wait", "--silent", "-m", mode, "-D"]).arg(self.data()),
        )
    }

    /// A new, empty database of the role [`Cluster::USER`].
    pub fn database(&self) -> String {
        let name = format!("db{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name} OWNER {}", Cluster::USER))
            .expect("a new database");
        name
    }

    /// As the administrator. Returns the plain output.
    pub fn sql(&self, database: &str, statement: &str) -> Result<String, String> {
        let mut psql = self.command("psql");
        psql.args([
            "--no-psqlrc",
            "-At",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "admin",
            "-p",
            &self.port.to_string(),
            "-h",
        ]);
        let ran = psql.arg(&self.folder).args(["-d", database, "-c", statement]).output();
        let ran = ran.map_err(|error| format!("psql: {error}"))?;
        if !ran.status.success() {
            return Err(format!("{statement}: {}", String::from_utf8_lossy(&ran.stderr)));
        }
        Ok(String::from_utf8_lossy(&ran.stdout).trim_end().to_owned())
    }

    /// As another login.
    pub fn sql_by(&self, url: &str, statement: &str) -> Result<String, String> {
        let mut psql = self.command("psql");
        psql.args(["--no-psqlrc", "-At", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", statement]);
        let ran = psql.output().map_err(|error| format!("psql: {error}"))?;
        if !ran.status.success() {
            return Err(String::from_utf8_lossy(&ran.stderr).into_owned());
        }
        Ok(String::from_utf8_lossy(&ran.stdout).trim_end().to_owned())
    }

    /// By the server's name, with the password.
    pub fn url(&self, database: &str) -> String {
        self.url_on(&format!("localhost:{}", self.port), database)
    }

    pub fn url_on(&self, host: &str, database: &str) -> String {
        format!("postgres://{}:{}@{host}/{database}", Cluster::USER, escape_url(Cluster::PASSWORD))
    }

    /// On 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn socket(&self) -> &Path {
        &self.folder
    }

    /// Signed the server's certificate.
    pub fn ca_file(&self) -> PathBuf {
        self.folder.join("certificates/ca.crt")
    }

    /// Did not sign it.
    pub fn other_ca_file(&self) -> PathBuf {
        self.folder.join("certificates/other.crt")
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn command(&self, program: &str) -> Command {
        let path = self.programs.join(program);
        let mut command = Command::new(if path.is_file() { path } else { program.into() });
        demote(&mut command, self.run_as);
        // The tests may run in a folder that this user cannot enter.
        command.current_dir("/").stdin(Stdio::null()).env("LC_ALL", "C").env_remove("PGPASSWORD");
        command
    }

    fn give_away(&self, path: &Path) -> Result<(), String> {
        let Some((user, group)) = self.run_as else { return Ok(()) };
        chown(path, Some(user), Some(group)).map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        let _ = self.watch.wait();
    }
}

/// Waits for the end of this process, then stops the server and removes its folder.
fn start_watch(folder: &Path, programs: &Path, run_as: Option<(u32, u32)>) -> io::Result<Child> {
    let script = "read -r _; \"$1/pg_ctl\" stop -m immediate -D \"$0/data\"; rm -rf \"$0\"/* \"$0\"";
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(folder).arg(programs);
    demote(&mut shell, run_as);
    // In its own group: a signal from the terminal that ends the tests must not end it.
    shell
        .process_group(0)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn demote(command: &mut Command, run_as: Option<(u32, u32)>) {
    if let Some((user, group)) = run_as {
        command.uid(user).gid(group);
    }
}

/// Output goes to a file: a started server inherits it and would keep a pipe open.
fn run_to_end(command: &mut Command) -> Result<(), String> {
    let shown =
        Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut said = tempfile::tempfile().map_err(|error| error.to_string())?;
    let to = || said.try_clone().map(Stdio::from).map_err(|error| error.to_string());
    let status = command.stdout(to()?).stderr(to()?).status().map_err(|error| format!("{shown}: {error}"))?;
    if status.success() {
        return Ok(());
    }
    let mut text = String::new();
    let _ = io::Seek::rewind(&mut said).and_then(|()| io::Read::read_to_string(&mut said, &mut text));
    Err(format!("{shown} ended with {status}: {text}"))
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn escape_url(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
