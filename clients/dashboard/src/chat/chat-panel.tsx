import type { BootstrapView, ChatMessageView, ConversationSummary } from '@consigliere/sdk';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { mayAct, useMe } from '../me.js';
import { pagesNamedIn } from '../palette/places.js';
import { ThingLink } from '../palette/thing-link.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Earlier, Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { useTyped } from '../ui/typed.js';

const NAMES = { apr: 'approval', dir: 'directive', so: 'standing order', esc: 'escalation' };

/** On a phone the chat takes the place of the page. */
const ALONE = matchMedia('(width < 56rem)');
function onWidth(listener: () => void): () => void {
  ALONE.addEventListener('change', listener);
  return () => ALONE.removeEventListener('change', listener);
}

/** The thing that the page beside shows. */
function useOpen(): { id: string; name: string } | undefined {
  const { approvalId, directiveId, standingOrderId, escalationId } = useParams({ strict: false });
  const id = approvalId ?? directiveId ?? standingOrderId ?? escalationId;
  return id === undefined ? undefined : { id, name: NAMES[id.split('_', 1)[0] as keyof typeof NAMES] };
}

/** Asks the consigliere beside the page, about what is open there. It answers, and hands in work once a person says yes. */
export function ChatPanel({ close }: { close: () => void }) {
  const queries = useQueryClient();
  const me = useMe();
  const open = useOpen();
  const [left, setLeft] = useState<string>();
  const isAlone = useSyncExternalStore(onWidth, () => ALONE.matches);
  const { typed, type } = useTyped('chat');
  const conversationId = typed['conversation'] || undefined;
  const message = typed['message'] ?? '';
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const about = open?.id === left ? undefined : open?.id;
  const send = useMutation({
    mutationFn: (said: { message: string; teamId?: string }) =>
      client.chat.send({ ...said, ...(conversationId && { conversationId }), ...(about && { about }) }),
    onSuccess: async ({ conversationId: id }, said) => {
      type('conversation', id);
      if (said.message === message.trim()) type('message', '');
      await queries.invalidateQueries({ queryKey: ['chat'] });
    },
  });
  const begin = (id: string) => {
    send.reset();
    type('conversation', id);
    field.current?.focus();
  };
  const ask = () => {
    if (message.trim() !== '' && !send.isPending) send.mutate({ message: message.trim() });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  };
  return (
    <section className="chat" aria-label="Chat" onKeyDown={onKeyDown}>
      <div className="row">
        {isAlone ? <h1>Chat</h1> : <h2>Chat</h2>}
        {conversationId && (
          <button type="button" aria-label="New conversation" onClick={() => begin('')}>
            New
          </button>
        )}
        <button type="button" aria-label="Close the chat" onClick={close}>
          Close
        </button>
      </div>
      {conversationId ? (
        <Conversation
          key={conversationId}
          conversationId={conversationId}
          isPending={send.isPending}
          onLeave={close}
          onAnswer={(said) => send.mutate(said)}
          me={me}
        />
      ) : (
        <Begin onChoose={begin} />
      )}
      {send.isPending && <p role="status">The consigliere is looking it up.</p>}
      {send.error && <Failure error={send.error} />}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        {open && (
          <label className="check">
            <input
              type="checkbox"
              checked={about !== undefined}
              onChange={({ target }) => setLeft(target.checked ? undefined : open.id)}
            />
            About the {open.name} that is open
          </label>
        )}
        <label>
          Your message <span className="quiet">Enter sends it</span>
          <textarea
            ref={field}
            rows={2}
            maxLength={4_000}
            readOnly={send.isPending}
            value={message}
            onChange={({ target }) => type('message', target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              ask();
            }}
          />
        </label>
        <button type="submit" className="primary" disabled={send.isPending || message.trim() === ''}>
          Send
        </button>
      </form>
    </section>
  );
}

/** What can be asked, and what was asked before. */
function Begin({ onChoose }: { onChoose: (conversationId: string) => void }) {
  const [isShown, setShown] = useState(false);
  return (
    <div className="said-before">
      <p>
        Ask what waits, what failed or was sent, who approved something, or why. Say what should be done, such
        as “Email jane@acme.example”, and it asks back before it is handed in.
      </p>
      <p className="quiet">It answers with what you may see. It approves and changes nothing.</p>
      <details onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
        <summary>Earlier conversations</summary>
        {isShown && (
          <Listing<ConversationSummary>
            name="conversations"
            queryKey={['chat', 'conversations']}
            list={(page) => client.chat.list(page)}
            empty="None yet."
          >
            {({ conversationId, title, lastMessageAt }) => (
              <li key={conversationId}>
                <button type="button" onClick={() => onChoose(conversationId)}>
                  {title}
                </button>{' '}
                <Time at={lastMessageAt} />
              </li>
            )}
          </Listing>
        )}
      </details>
    </div>
  );
}

interface Given {
  conversationId: string;
  isPending: boolean;
  me: BootstrapView | undefined;
  onAnswer: (said: { message: string; teamId?: string }) => void;
  onLeave: () => void;
}

/** What was said, the newest last, with the records that each answer was made from. */
function Conversation({ conversationId, isPending, me, onAnswer, onLeave }: Given) {
  const conversation = useInfiniteQuery({
    queryKey: ['chat', conversationId],
    queryFn: ({ pageParam }) =>
      client.chat.get(conversationId, { limit: 50, ...(pageParam !== null && { before: pageParam }) }),
    initialPageParam: null as number | null,
    getNextPageParam: ({ nextBefore }) => nextBefore,
  });
  const messages = conversation.data?.pages.flatMap(({ items }) => items).toReversed() ?? [];
  const last = messages.at(-1);
  const log = useRef<HTMLDivElement>(null);
  useEffect(() => {
    log.current?.lastElementChild?.scrollIntoView({ block: 'nearest' });
  }, [last?.position]);
  const asksBack = last?.intents.some(({ intent }) => intent === 'hand_in_asked') ?? false;
  return (
    <Loaded query={conversation}>
      {() => (
        <>
          {/* It scrolls, so it can be reached by the keyboard. */}
          <div ref={log} className="said-before" role="log" aria-label="What was said" tabIndex={0}>
            <Earlier query={conversation} />
            {messages.map((message, at) => (
              <Said
                key={message.position}
                message={message}
                asked={messages[at - 1]?.body ?? ''}
                onLeave={onLeave}
              />
            ))}
          </div>
          {asksBack && <HandIn me={me} isPending={isPending} onAnswer={onAnswer} />}
        </>
      )}
    </Loaded>
  );
}

function Said({
  message: { author, body, intents, directiveIds, sources: known, createdAt },
  asked,
  onLeave,
}: {
  message: ChatMessageView;
  /** The message before it. */
  asked: string;
  onLeave: () => void;
}) {
  const leave = () => ALONE.matches && onLeave();
  const pages = intents.some(({ intent }) => UNANSWERED.has(intent)) ? pagesNamedIn(asked) : [];
  const ids = [...new Set([...intents.flatMap((each) => each.ids), ...directiveIds])];
  const sources = ids.filter((id) => !id.startsWith('team_'));
  return (
    <div className={`said ${author}`}>
      <p className="facts">
        <strong>{author === 'member' ? 'You' : 'Consigliere'}</strong> <Time at={createdAt} />
      </p>
      <p className="output">{author === 'member' ? body : withoutIds(body)}</p>
      {sources.length > 0 && (
        <ul aria-label="Sources">
          {sources.map((id) => (
            <li key={id}>
              <ThingLink
                id={id}
                words={nameOf(id, known.find((one) => one.id === id)?.title)}
                onLeave={leave}
              />
            </li>
          ))}
        </ul>
      )}
      {pages.length > 0 && (
        <p>
          Pages about this:{' '}
          {pages.map(({ to, title }, at) => (
            <span key={to}>
              {at > 0 && ', '}
              <Link to={to} onClick={leave}>
                {title}
              </Link>
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

const UNANSWERED = new Set<ChatMessageView['intents'][number]['intent']>(['help', 'not_answered']);

const KINDS: Record<string, string> = {
  ...NAMES,
  pkt: 'work packet',
  act: 'request of an agent',
  qst: 'question',
  sig: 'signal',
  rcp: 'receipt',
  chk: 'checkpoint',
  con: 'connector',
  doc: 'document',
  tok: 'token',
};

/** How a person knows a record: what it is, and its title where the service told one. */
function nameOf(id: string, title: string | undefined): string {
  const kind = KINDS[id.split('_', 1)[0]!] ?? 'record';
  return title === undefined ? `the ${kind}` : `the ${kind} “${title}”`;
}

const ID = '[a-z]{2,4}_[0-9a-z]{26}';

/** An answer without ids: what they name stands as links below it. */
function withoutIds(body: string): string {
  return body
    .replaceAll(new RegExp(`^- ${ID} \\(([^\\n]*?”)\\) `, 'gm'), '- $1 ')
    .replaceAll(new RegExp(`^(- )${ID}:? `, 'gm'), '$1')
    .replaceAll(new RegExp(`(?: as)? \\(?\\b${ID}\\b\\)?`, 'g'), '');
}

/** The answer to "Shall I hand this in?". */
function HandIn({ me, isPending, onAnswer }: Pick<Given, 'me' | 'isPending' | 'onAnswer'>) {
  const teams = me?.teams.filter(({ teamId }) => mayAct(me, 'operator', teamId)) ?? [];
  const [teamId, setTeam] = useState('');
  return (
    <div className="row" role="group" aria-label="Shall it be handed in?">
      {teams.length > 1 && (
        <select aria-label="For the team" value={teamId} onChange={({ target }) => setTeam(target.value)}>
          <option value="">Choose the team</option>
          {teams.map((team) => (
            <option key={team.teamId} value={team.teamId}>
              {team.name}
            </option>
          ))}
        </select>
      )}
      <button
        type="button"
        className="primary"
        disabled={isPending}
        onClick={() => onAnswer({ message: 'yes', ...(teamId && { teamId }) })}
      >
        Yes, hand it in
      </button>
      <button type="button" disabled={isPending} onClick={() => onAnswer({ message: 'no' })}>
        No
      </button>
    </div>
  );
}
