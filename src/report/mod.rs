//! What a person or a program reads while a run goes on.
