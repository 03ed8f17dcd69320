//! A certificate authority and a server's certificate, made for one test run.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Writes `ca.crt`, `server.crt` and `server.key` into a folder, and `other.crt`, which signed nothing. The
/// certificate is for `localhost` only.
pub(crate) fn create(folder: &Path) -> Result<(), String> {
    let extensions = "basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n";
    fs::write(folder.join("server.ext"), extensions).map_err(|error| error.to_string())?;
    for name in ["ca", "other"] {
        let subject = format!("/CN=tidegate test {name}");
        let (key, certificate) = (format!("{name}.key"), format!("{name}.crt"));
        let mut arguments =
            vec!["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        arguments.extend(["-days", "2", "-subj", &subject, "-keyout", &key, "-out", &certificate]);
        run_openssl(folder, &arguments)?;
    }
    let mut request = vec!["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    request.extend(["-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr"]);
    run_openssl(folder, &request)?;
    let mut sign =
        vec!["x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-set_serial", "2"];
    sign.extend(["-days", "2", "-extfile", "server.ext", "-out", "server.crt"]);
    run_openssl(folder, &sign)
}

fn run_openssl(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let ran = Command::new("openssl").args(arguments).current_dir(folder).output();
    match ran {
        Ok(ran) if ran.status.success() => Ok(()),
        Ok(ran) => Err(format!("openssl {}: {}", arguments[0], String::from_utf8_lossy(&ran.stderr))),
        Err(error) => Err(format!("openssl: {error} (Debian: `apt-get install openssl`)")),
    }
}
