//! `team`: a blind panel of models, from one prompt to a verdict.
//!
//! The modules in the order in which data flows; each imports only from the ones above its group. Within layer 0,
//! `error`, `ids`, `fault` and `money` are the words that the others speak in.
//!
//! | Layer | Module | Owns |
//! | --- | --- | --- |
//! | 0 | [`error`] [`ids`] [`fault`] [`fs`] [`git`] [`secrets`] [`prompts`] [`money`] [`model`] | errors with kind, exit code and hints; newtypes; places at which a test build can die; the only file writers; the only git calls; redaction; embedded templates; exact amounts; what a resolved model is |
//! | 1 | [`config`] [`session`] | layered settings and model resolution; the folder: layout, manifest, events, status, meta, lock |
//! | 2 | [`slots`] [`capture`] [`isolation`] | what can answer; bytes to answers; what a process may see |
//! | 3 | [`runner`] | N slots at once: dispatcher, executor, limits, signals, processes |
//! | 4 | [`judging`] | assignment, prompts, ballots |
//! | 5 | [`verdict`] [`findings`] | tally, statistics, rendering; what reviewers find: read, merged, voted on, and the ledger of it |
//! | 6 | [`engine`] [`report`] | run, judge, verdict and close put together, and the check of what they left; what is shown while they go on, here or from another terminal, a session, a review or a fix as one HTML file or as text, counts over many sessions, the schemas of what is written, and what CI systems read |
//! | 7 | [`pipeline`] | the gate: which commits, which settings, what is sent of a change; reviews: what is looked at, the panel, the vote on what it found, and what came of it, for people; conversations with roles over rounds; the loop that repairs what a review found; what of the user's own is kept from all of their programs |
//! | 8 | [`cli`] [`mcp`] | the command line: one file per command; the tools, resources and prompts for coding agents |
//!
//! # Who writes which file of a session
//!
//! | File | Writer |
//! | --- | --- |
//! | `session-meta.json` `input.md` `task.md` `manifest.json` `status.json` `events.jsonl` `roles/` `.lock` `.requests/` | [`session`] |
//! | `response-NN.md` `errors/NN.log` `errors/NN.partial.md` | [`capture`] |
//! | `findings.jsonl` | [`findings`] |
//! | `declines.jsonl` beside the sessions | [`pipeline`], a line for each decision; no part of any session |
//! | `work/NN/` | the slot's own program |
//! | `report.html` | [`cli`], from what [`report`] makes of the folder; no part of the record |
//! | `workspace/` | [`engine`], before anybody is asked; in a review [`pipeline`] |
//! | `repository/` `worktree/` `checks/` `fixes/*/left-*/`; what is in `worktree/` is the fixer's | [`pipeline`] |
//! | `diff.patch` `design.md` `report.md`, and `consolidated.md` of each panel inside | [`pipeline`] |
//! | private folders of slots, below the system's temporary folder | [`runner`], removed with the slot |
//! | folders of temporary sessions, below the system's temporary folder | [`session`], removed by `team gc` |
//! | `ai-docs/team-*.md`, with `--legacy` | [`engine`], once and never over anything |
//! | `roles/*.kept` | [`session`], when the [`runner`] has a turn that completed |
//! | `roles/*.turn-N.*.md` | [`pipeline`], where something is added to the prompt of a turn |
//! | `judging*/**/prompt-NN.md` `repair/prompt-NN.md` `judging*/votes.json` `judging*/import-NN.txt`, `response-NN.md` of an imported judge, `verdict.json` `verdict.md` | [`engine`], from what [`judging`] and [`verdict`] make |

pub mod error;
pub mod fault;
pub mod fs;
pub mod git;
pub mod ids;
pub mod model;
pub mod money;
pub mod prompts;
pub mod secrets;

pub mod config;
pub mod session;

pub mod capture;
pub mod isolation;
pub mod slots;

pub mod runner;

pub mod judging;

pub mod findings;
pub mod verdict;

pub mod engine;
pub mod report;

pub mod pipeline;

pub mod cli;
pub mod mcp;
