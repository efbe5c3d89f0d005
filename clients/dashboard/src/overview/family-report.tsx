import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { useTyped } from '../ui/typed.js';

/** What each capo did today, and what people say about it. */
export function FamilyReport({ teamId }: { teamId: string | undefined }) {
  const report = useQuery({
    queryKey: ['family', teamId],
    queryFn: () => client.family.getReport(teamId ? { teamId } : {}),
  });
  return (
    <section aria-label="Family report">
      <h2>Family report of today</h2>
      <Loaded query={report}>
        {({ reportId, capos }) => (
          <>
            <ul className="rows">
              {capos.map(({ capo, name, sentence, waits, failed }) => (
                <li key={capo}>
                  <span className="title">{name}</span>
                  {sentence}
                  <span className="facts">
                    {waits.approvals > 0 && <span>{waits.approvals} waiting</span>}
                    {failed.inAll > 0 && <span className="urgent">{failed.inAll} failed</span>}
                  </span>
                </li>
              ))}
            </ul>
            <Comments key={reportId} reportId={reportId} teamId={teamId} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function Comments({ reportId, teamId }: { reportId: string; teamId: string | undefined }) {
  const queries = useQueryClient();
  const me = useMe();
  const { typed, type, forget } = useTyped(`comment:${reportId}`);
  const body = typed['body'] ?? '';
  const comment = useMutation({
    mutationFn: () => client.family.comment({ reportId, body }),
    onSuccess: () => {
      forget();
      return queries.invalidateQueries({ queryKey: ['comments', reportId] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    comment.mutate();
  };
  return (
    <>
      <h3>Comments</h3>
      <Listing
        queryKey={['comments', reportId]}
        name="comments"
        list={(page) => client.family.listComments({ reportId, ...page })}
        empty="Nobody has commented on this report."
      >
        {({ commentId, createdBy, createdAt, body: said }) => (
          <li key={commentId}>
            <span className="facts">
              {createdBy.name}, <Time at={createdAt} />
            </span>
            <span className="output">{said}</span>
          </li>
        )}
      </Listing>
      {mayAct(me, 'operator', teamId) && (
        <form onSubmit={submit}>
          <label>
            Your comment
            <textarea
              value={body}
              onChange={({ target }) => type('body', target.value)}
              maxLength={4_000}
              required
            />
          </label>
          {comment.error && <Failure error={comment.error} />}
          <button type="submit" disabled={comment.isPending || !body.trim()}>
            Comment
          </button>
        </form>
      )}
    </>
  );
}
