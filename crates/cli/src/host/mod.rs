//! The host's own files, as the host reads them: its settings, the shape of hooks in them, and our plugin.

pub(crate) mod settings_file;
pub(crate) mod hook_shape;
pub(crate) mod plugin;
