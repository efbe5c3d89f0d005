import type { DeletionStatus, WorkspaceView } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { admin } from '../session.js';
import { Act } from '../ui/act.js';
import { Failure } from '../ui/failure.js';
import { Field } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { save } from '../ui/save.js';
import { Time } from '../ui/time.js';

/** The export of the open workspace, and its deletion. */
export function ThisWorkspace({ workspace }: { workspace: WorkspaceView }) {
  const status = useQuery({
    queryKey: ['workspace', 'deletion'],
    queryFn: () => admin.workspace.getDeletion(),
  });
  return (
    <Loaded query={status}>
      {(data) => (
        <>
          {data.deletion && <Deleting deletion={data.deletion} workspace={workspace} />}
          <Export newest={data.export} workspace={workspace} />
          {!data.deletion && <Deletion newest={data.export} workspace={workspace} />}
        </>
      )}
    </Loaded>
  );
}

/** Has the browser keep everything of the workspace, and says how much has come. */
function Export({ newest, workspace }: { newest: DeletionStatus['export']; workspace: WorkspaceView }) {
  const queries = useQueryClient();
  const [bytes, setBytes] = useState(0);
  const stop = useRef<AbortController>(undefined);
  const exporting = useMutation({
    mutationFn: async () => {
      setBytes(0);
      stop.current = new AbortController();
      const { signal } = stop.current;
      const answer = await admin.open('GET', '/api/admin/workspace/export', { signal });
      let read = 0;
      const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(piece, out) {
          setBytes((read += piece.byteLength));
          out.enqueue(piece);
        },
      });
      const file = await new Response(answer.body!.pipeThrough(counted)).blob();
      const [, name = 'workspace.jsonl'] =
        /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '') ?? [];
      save(file, name);
      await queries.invalidateQueries({ queryKey: ['workspace', 'deletion'] });
    },
  });
  return (
    <section aria-label="Export">
      <h2>Export {workspace.name}</h2>
      <p>
        Everything that is in it, as a file that can be verified without the service. Passwords, tokens and
        secrets are left out.
      </p>
      {newest && (
        <p className="facts">
          <span>
            The last whole one: <Time at={newest.completedAt} /> by {newest.askedBy.name}
          </span>
          <span>{newest.lines.toLocaleString()} lines</span>
          <span>{sizeOf(newest.bytes)}</span>
          <code>{newest.sha256}</code>
        </p>
      )}
      {exporting.error && !stop.current?.signal.aborted && <Failure error={exporting.error} />}
      <div className="row">
        <button type="button" disabled={exporting.isPending} onClick={() => exporting.mutate()}>
          Export
        </button>
        {exporting.isPending && (
          <button type="button" onClick={() => stop.current?.abort()}>
            Stop the export
          </button>
        )}
      </div>
      <p role="status">
        {exporting.isPending && `${sizeOf(bytes)} received. Leave this page open.`}
        {exporting.isSuccess && `The file is complete: ${sizeOf(bytes)}.`}
      </p>
    </section>
  );
}

function sizeOf(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.ceil(bytes / 1_000).toLocaleString()} kB`
    : `${(bytes / 1_000_000).toLocaleString(undefined, { maximumFractionDigits: 1 })} MB`;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1_000;
const STALE = ['workspace', 'me', 'guardian'] as const;

function Deletion({ newest, workspace }: { newest: DeletionStatus['export']; workspace: WorkspaceView }) {
  const { name, isFirst } = workspace;
  if (isFirst) return null;
  return (
    <section aria-label="Deletion">
      <h2>Delete {name}</h2>
      <p>
        Everything in it stops at once, and nobody can change it. For seven days, any owner can cancel the
        deletion. Then all of it is deleted for good, including receipts and the accounts of people who are in
        no other workspace.
      </p>
      {newest && Date.now() - newest.completedAt < WEEK_MS ? (
        <Act
          verb="Delete"
          of={name}
          id={workspace.workspaceId}
          effect="It stops now, and is deleted in seven days. Where a mail server is set up, its owners are mailed."
          isDanger
          act={({ typed }) => admin.workspace.requestDeletion({ name: typed!, confirm: typed! })}
          stale={STALE}
        >
          <Field label={`Type ${name}`}>
            <input name="typed" required autoComplete="off" data-confirm />
          </Field>
        </Act>
      ) : (
        <p className="quiet">Export it first: deleting it requires an export from the last seven days.</p>
      )}
    </section>
  );
}

/** The days in which it can be taken back. */
function Deleting({
  deletion: { requestedBy, requestedAt, dueAt },
  workspace: { name },
}: {
  deletion: NonNullable<DeletionStatus['deletion']>;
  workspace: WorkspaceView;
}) {
  return (
    <section aria-label="Deletion">
      <h2>{name} is going to be deleted</h2>
      <p className="warning">
        It is deleted for good <Time at={dueAt} />. {requestedBy.name} asked for that{' '}
        <Time at={requestedAt} />. Until then it can be read and exported, and nobody changes it.
      </p>
      <Act
        verb="Take it back"
        of={`and keep ${name}`}
        effect="Everything is as it was before. What is stopped stays stopped until an admin ends the stop on the page Safety."
        act={() => admin.workspace.withdrawDeletion()}
        stale={STALE}
      />{' '}
      <Link to="/guardian">Safety</Link>
    </section>
  );
}
