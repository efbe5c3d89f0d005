import type { DocumentSummary } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../session.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';

/** What the capos have filed, newest first. */
export function DocumentsPage() {
  return (
    <div className="page">
      <h1>Documents</h1>
      <Listing<DocumentSummary>
        name="documents"
        queryKey={['document']}
        list={(page) => client.documents.list(page)}
        empty="None yet. A directive such as “File a note” makes one, once it is approved."
      >
        {(document) => <Filed key={document.documentId} document={document} />}
      </Listing>
    </div>
  );
}

function Filed({
  document: { documentId, directiveId, title, createdAt, withdrawnAt },
}: {
  document: DocumentSummary;
}) {
  const [isOpen, setOpen] = useState(false);
  const document = useQuery({
    queryKey: ['document', documentId],
    queryFn: () => client.documents.get(documentId),
    enabled: isOpen,
  });
  return (
    <li>
      <span className="title">{title}</span>
      <span className="facts">
        <span>
          filed <Time at={createdAt} />
        </span>
        {withdrawnAt !== null && (
          <span className="urgent">
            undone <Time at={withdrawnAt} />
          </span>
        )}
        <Link to="/directives/$directiveId" params={{ directiveId }}>
          Read the directive
        </Link>
      </span>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Read {title}</summary>
        {isOpen && <Loaded query={document}>{({ body }) => <pre className="output">{body}</pre>}</Loaded>}
      </details>
    </li>
  );
}
