//! From the command line to its command, and from its result to an exit code.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::Parser;

use super::args::{Cli, Command};
use super::caller::Caller;
use super::context::Context;
use super::{
    completions, config, deep, demo, doctor, fix, gate, gc, init, judge, looks, models, report, respond, resume,
    review, run, schema, sessions, show, stats, verify, vote, warnings, watch,
};
use crate::config::Environment;
use crate::error::{Error, ExitCode};
use crate::report::Aside;

/// Serves coding agents: in this folder, with this environment, and the folder of sessions where one was named.
///
/// The other front end; this one hands over to it without knowing it.
pub type Serve = fn(PathBuf, Environment, Option<PathBuf>) -> Result<ExitCode, Error>;

/// Runs the program; the result is its exit code. `serve` is what `team mcp` does.
#[must_use]
pub fn main(serve: Serve) -> std::process::ExitCode {
    let (caller, words) = Caller::among(std::env::args_os());
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output with 0, mistakes to standard error with 2.
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            return match printed {
                // Of a mistake there is no other place to tell; whoever asked for help has left, or gets none of it.
                Err(refused) if !error.use_stderr() && refused.kind() != std::io::ErrorKind::BrokenPipe => {
                    let error = Error::io("cannot write to standard output", refused);
                    super::Printer::new(&super::args::GlobalArgs::default()).error(&error);
                    error.kind().exit_code().into()
                }
                _ => std::process::ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
            };
        }
    };
    let aside = Aside::default();
    if !cli.global.quiet || caller.is_some() {
        warnings::show(aside.clone());
    }
    let context = match Context::of_this_process(cli.global, aside, caller) {
        Ok(context) => context,
        Err(error) => {
            super::Printer::new(&super::args::GlobalArgs::default()).error(&error);
            return error.kind().exit_code().into();
        }
    };
    if let Some(caller) = caller {
        caller.settle();
    }
    match dispatch(cli.command, &context, serve) {
        Ok(code) => code.into(),
        Err(error) => {
            context.printer.error(&error);
            error.kind().exit_code().into()
        }
    }
}

fn dispatch(command: Command, context: &Context, serve: Serve) -> Result<ExitCode, Error> {
    match command {
        Command::Config => config::config(context),
        Command::Schema(args) => schema::schema(&args, context),
        Command::Completions(args) => completions::completions(context, &args),
        Command::Models => runtime()?.block_on(models::models(context, Some(&|| looks::local(context)))),
        Command::Init(args) => runtime()?.block_on(init::init(context, &args, Some(&|| looks::local(context)))),
        Command::Doctor(args) => {
            let hooks = doctor::Hooks {
                local: Some(&|| looks::local(context)),
                isolation: Some(&|| looks::isolation(context)),
                deep: Some(&|models| Box::pin(deep::ask_each(context, models))),
            };
            work()?.block_on(doctor::doctor(context, &args, &hooks))
        }
        Command::Run(args) => work()?.block_on(run::run(&args, context)),
        Command::RunAndJudge(args) => work()?.block_on(run::run_and_judge(&args, context)),
        Command::Judge(args) => work()?.block_on(judge::judge(&args, context)),
        Command::Vote(args) => work()?.block_on(vote::vote(&args, context)),
        Command::Review(args) => work()?.block_on(review::review(&args, context)),
        Command::Fix(args) => work()?.block_on(fix::fix(&args, context)),
        Command::Respond(args) => work()?.block_on(respond::respond(&args, context)),
        Command::Gate(args) => work()?.block_on(gate::gate(&args, context)),
        Command::Resume(args) => work()?.block_on(resume::resume(&args, context)),
        Command::Demo(args) => work()?.block_on(demo::demo(&args, context)),
        Command::Status(args) if args.watch => runtime()?.block_on(watch::watch(&args, context)),
        Command::Status(args) => sessions::status(&args, context),
        Command::List(args) => sessions::list(&args, context),
        Command::Cancel(args) => sessions::cancel(&args, context),
        Command::Show(args) => show::show(&args, context),
        Command::Gc(args) => gc::gc(&args, context),
        Command::Verify(args) => verify::verify(&args, context),
        Command::Report(args) => report::report(&args, context),
        Command::Stats(args) => stats::stats(&args, context),
        Command::Mcp => {
            if std::io::stdin().is_terminal() {
                context.printer.note("waiting for a client: `team mcp --help` says how one starts it, Ctrl-C ends it");
            }
            serve(context.cwd.clone(), context.environment.clone(), context.global.sessions_dir.clone())
        }
    }
}

/// How many answers are made durable at once: enough for the file system to take many together, few enough to be small.
const SETTLING: usize = 32;

/// The runtime of commands that run panels. More threads than processors: some wait for the disk.
fn work() -> Result<tokio::runtime::Runtime, Error> {
    let threads = std::thread::available_parallelism().map_or(4, |count| count.get().max(4));
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(SETTLING)
        .enable_all()
        .build()
        .map_err(|error| Error::io("cannot start the runtime", error))
}

fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::io("cannot start the runtime", error))
}
