import { CommanderError } from 'commander';
import { exitCodeOf, Interrupted, report, UsageError } from './errors.js';
import { makeProgram, quiet, withVerb } from './program.js';

// `consigliere ... | head` has what it wanted.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(process.exitCode ?? 0);
  });
}

const args = process.argv.slice(2);
// Behind `--` stands another command, with options of its own.
const ours = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
const options = { isJson: ours.includes('--json'), isDebug: ours.includes('--debug') };
process.once('SIGINT', () => process.exit(report(new Interrupted(), options)));

try {
  const program = makeProgram();
  if (options.isJson) quiet(program);
  if (args.length === 0) program.outputHelp();
  else await program.parseAsync(withVerb(program, args), { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = exitCodeOf(error);
    const message =
      error.code === 'commander.help' ? 'Name a command.' : error.message.replace(/^error: /, '');
    if (options.isJson && process.exitCode !== 0) report(new UsageError(message), options);
  } else process.exitCode = report(error, options);
}
