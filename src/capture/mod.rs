//! Bytes to answers: stream decoders, the answer file, bounded logs.
