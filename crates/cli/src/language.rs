//! The language that commands speak.

use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_core::text::lang::Lang;
use tidegate_hook::environment::Environment;
use tidegate_state::config::{self, Sources};

use crate::approval::is_by_agent;

static IS_JAPANESE: AtomicBool = AtomicBool::new(false);

pub(crate) fn current() -> Lang {
    if IS_JAPANESE.load(Ordering::Relaxed) { Lang::Ja } else { Lang::En }
}

/// Before the project is known: for the help and for errors on the way to it.
pub(crate) fn choose_by_user(env: &Environment) {
    let user = env.place.config();
    let sources = Sources { user: user.as_deref(), variables: &env.settings, ..Sources::default() };
    choose(env, config::read(&sources).general.lang);
}

/// The config's language, else the locale's, else English. An agent is spoken to in English, like the model in hooks.
pub(crate) fn choose(env: &Environment, configured: Option<Lang>) {
    let lang = if is_by_agent(env) { Lang::En } else { env.lang(configured, None) };
    IS_JAPANESE.store(lang == Lang::Ja, Ordering::Relaxed);
}
