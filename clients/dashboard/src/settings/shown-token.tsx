import { useState } from 'react';
import { useFocusOnce } from '../ui/use-focus-once.js';

export interface Shown {
  token: string;
  isAgent: boolean;
}

/** A new token, which nothing shows again, with the first lines of each client. */
export function ShownToken({ shown: { token, isAgent }, onKept }: { shown: Shown; onKept: () => void }) {
  const { origin } = location;
  const [copied, setCopied] = useState<string>();
  const heading = useFocusOnce(token);
  const copy = async (name: string, text: string) => {
    await navigator.clipboard.writeText(text);
    setCopied(name);
  };
  const lines: [name: string, text: string][] = [
    ['Token', token],
    [
      'curl',
      `curl -H 'Authorization: Bearer ${token}' ${origin}/api/pro/${isAgent ? 'action-requests' : 'bootstrap'}`,
    ],
    [
      'SDK',
      `import { Consigliere } from '@consigliere/sdk';\nconst client = new Consigliere({ baseUrl: '${origin}', token: '${token}' });`,
    ],
    [
      'CLI',
      `export CONSIGLIERE_BASE_URL=${origin} CONSIGLIERE_TOKEN=${token}\nconsigliere api GET /api/pro/${isAgent ? 'action-requests' : 'bootstrap'}`,
    ],
    isAgent
      ? [
          'MCP proxy',
          `CONSIGLIERE_BASE_URL=${origin} CONSIGLIERE_TOKEN=${token} consigliere mcp proxy -- COMMAND OF YOUR MCP SERVER`,
        ]
      : [
          'MCP',
          JSON.stringify(
            {
              mcpServers: {
                consigliere: { url: `${origin}/mcp`, headers: { Authorization: `Bearer ${token}` } },
              },
            },
            null,
            2,
          ),
        ],
  ];
  return (
    <section className="changed" aria-label="New token">
      <h2 tabIndex={-1} ref={heading}>
        New token
      </h2>
      <p role="alert">This token is shown only now. Save it where your program can read it.</p>
      {lines.map(([name, text]) => (
        <div key={name}>
          <h3>{name}</h3>
          <pre className="output">{text}</pre>
          <button type="button" aria-label={`Copy ${name}`} onClick={() => void copy(name, text)}>
            {copied === name ? 'Copied' : 'Copy'}
          </button>
        </div>
      ))}
      <p>
        <button type="button" onClick={onKept}>
          I have saved it
        </button>
      </p>
    </section>
  );
}
