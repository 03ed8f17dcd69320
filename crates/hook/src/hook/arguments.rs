//! The command line of a registration.

use std::ffi::OsString;

use tidegate_core::event::EventKind;
use tidegate_core::host::Host;
use tidegate_core::pipeline::gate::Registration;

#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) registration: Registration,
    /// Named by a file that no other host reads.
    pub(crate) host: Option<Host>,
    /// The install that registered this call, if there can be two.
    pub(crate) via: Option<String>,
}

impl Arguments {
    /// For a host that ignores `args`.
    pub(crate) fn bare() -> Arguments {
        Arguments { registration: Registration { event: None, advice: true }, ..Arguments::default() }
    }

    /// Never fails: an unknown argument must not change the exit code.
    pub(crate) fn parse(mut args: impl Iterator<Item = OsString>) -> Arguments {
        let mut parsed = Arguments::default();
        while let Some(arg) = args.next() {
            let arg = arg.to_string_lossy();
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (arg.into_owned(), None),
            };
            let mut value =
                || value.clone().or_else(|| args.next().map(|next| next.to_string_lossy().into_owned()));
            match name.as_str() {
                "--event" => parsed.registration.event = value().map(|name| EventKind::from_name(&name)),
                "--advice" => parsed.registration.advice = true,
                "--via" => parsed.via = value(),
                "--host" => parsed.host = value().as_deref().and_then(Host::named),
                _ => {}
            }
        }
        parsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_never_refused() {
        let parse = |args: &[&str]| Arguments::parse(args.iter().map(OsString::from)).registration;
        assert_eq!(parse(&["--event", "Stop"]).event, Some(EventKind::Stop));
        assert_eq!(
            parse(&["--event=PreToolUse", "--advice"]),
            Registration { event: Some(EventKind::PreToolUse), advice: true }
        );
        assert_eq!(parse(&["--event"]).event, None);
        let host = |name: &str| Arguments::parse(["--host", name].iter().map(OsString::from)).host;
        assert_eq!([host("codex"), host("bogus"), host("unknown")], [Some(Host::Codex), None, None]);
        assert_eq!(parse(&["--bogus", "x", "--event", "New"]).event, Some(EventKind::Other));
    }
}
