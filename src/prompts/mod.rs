//! Every text sent to a model: embedded templates, and a folder of the user's own over them.
