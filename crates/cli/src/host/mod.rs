//! The host's own files, as the host reads them: its settings, the shape of hooks in them, our plugin, and the files of other
//! agents.

pub(crate) mod claude_code;
pub(crate) mod settings_file;
pub(crate) mod hook_shape;
pub(crate) mod plugin;
pub(crate) mod agent_homes;
pub(crate) mod unchecked;
