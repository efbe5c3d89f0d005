import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { client } from '../session.js';
import { ThingLink } from '../palette/thing-link.js';
import { Loaded } from '../ui/list.js';
import { Time } from '../ui/time.js';

/** The receipt that a link names, with all that it says. */
export function OneReceipt({ receiptId }: { receiptId: string }) {
  const receipt = useQuery({
    queryKey: ['one_receipt', receiptId],
    queryFn: () => client.auditFeed.list({ receipt: receiptId, limit: 1 }),
    staleTime: Infinity,
  });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [receiptId]);
  return (
    <section aria-label="Receipt" className="changed">
      <h2 tabIndex={-1} ref={heading}>
        Receipt <code>{receiptId}</code>
      </h2>
      <Loaded query={receipt}>
        {({ items: [found] }) =>
          found ? (
            <>
              <p>{found.summary}</p>
              <dl>
                <Fact name="Number">{found.seq}</Fact>
                <Fact name="When">
                  <Time at={found.at} />
                </Fact>
                <Fact name="Who">{found.actor.name}</Fact>
                <Fact name="What">
                  {found.action.replaceAll(/[._]/g, ' ')}, {found.outcome}
                </Fact>
                <Fact name="About">
                  {found.entity.type.replaceAll('_', ' ')} <ThingLink id={found.entity.id} />{' '}
                  {found.directiveId !== null && (
                    <Link to="/directives/$directiveId" params={{ directiveId: found.directiveId }}>
                      Read the directive
                    </Link>
                  )}
                </Fact>
                <Fact name="Hash">
                  <code>{found.hash}</code>
                </Fact>
                <Fact name="Hash of the receipt before">
                  <code>{found.prevHash}</code>
                </Fact>
              </dl>
              <details>
                <summary>What else it records</summary>
                <pre className="output">{JSON.stringify(found.details, null, 2)}</pre>
              </details>
            </>
          ) : (
            <p>There is no such receipt, or you may not see it.</p>
          )
        }
      </Loaded>
      <Link to="/overview" search={{ view: 'auditor' }}>
        All receipts
      </Link>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
