import { describe, expect, it } from 'vitest';
import { compose } from '../../../src/features/mail/mail-message.js';
import { markdownToHtml, markdownToText } from '../../../src/features/mail/markdown.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import PostalMime from 'postal-mime';

describe('the HTML of a mail', () => {
  it.each([
    ['a script', '<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['an image tag', 'Hi <img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['a style block', '<style>*{display:none}</style>', '&lt;style&gt;'],
    ['a comment', '<!-- hidden -->', '&lt;!-- hidden --&gt;'],
    ['HTML in code', '`<b>`', '<code>&lt;b&gt;</code>'],
    ['quotes in a link', '[a](https://x.example/?q="><script>)', '%22%3E%3Cscript%3E'],
  ])('keeps %s as text', (_case, source, escaped) => {
    const html = markdownToHtml(source);
    expect(html).toContain(escaped);
    expect(html).not.toMatch(/<(script|img|style|!--)/i);
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'data:image/png;base64,AAAA',
    'file:///etc/passwd',
    'vbscript:x',
    '//evil.example',
    '/relative',
    'java&#10;script:alert(1)',
  ])('makes no link of %s', (href) => {
    expect(markdownToHtml(`[click](${href})`)).not.toContain('href');
  });

  it.each(['https://acme.example/a?b=1', 'mailto:ada@acme.example', 'tel:+4912345'])(
    'makes a link of %s',
    (href) => {
      expect(markdownToHtml(`[click](${href})`)).toContain(`<a href="${href}">click</a>`);
    },
  );

  it('loads nothing from elsewhere when it is opened', () => {
    expect(markdownToHtml('![logo](https://tracker.example/p.png)')).not.toMatch(/<img|src=/);
  });

  it('stands in a page whose title and signature are escaped', async () => {
    const mail = await compose(
      {
        id: newId('pkt'),
        to: ['b@x.example'],
        subject: '<b>&"',
        body: '- one\n- two',
        workspaceName: '<Acme>',
      },
      'ada@acme.example',
      0,
    );
    const { html, headers } = await PostalMime.parse(mail.bytes);
    expect(html).toContain('<title>&lt;b&gt;&amp;&quot;</title>');
    expect(html).toContain('&lt;Acme&gt;');
    expect(html).toMatch(/<div role="main"[\s\S]*<ul>\s*<li>one<\/li>\s*<li>two<\/li>\s*<\/ul>/);
    expect(headers.find(({ key }) => key === 'content-type')!.value).toMatch(/^multipart\/alternative/);
  });
});

describe('the headers of a mail that its reader can end', () => {
  const headersOf = async (unsubscribeUrl: string) => {
    const mail = { id: newId('ntf'), to: ['b@x.example'], subject: 'News', body: 'One', unsubscribeUrl };
    const { headers } = await PostalMime.parse((await compose(mail, 'ada@acme.example', 0)).bytes);
    return headers.filter(({ key }) => key.startsWith('list-')).map(({ key, value }) => [key, value]);
  };
  const path = `/unsubscribe/d${'0a1b2c3d'.repeat(16)}`;

  it('name the address in one piece, and one click where it is https', async () => {
    expect(await headersOf(`https://northwind.example${path}`)).toEqual([
      ['list-unsubscribe', `<https://northwind.example${path}>`],
      ['list-unsubscribe-post', 'List-Unsubscribe=One-Click'],
    ]);
    expect(await headersOf(`http://127.0.0.1:3000${path}`)).toEqual([
      ['list-unsubscribe', `<http://127.0.0.1:3000${path}>`],
    ]);
  });
});

describe('the text of a mail', () => {
  it.each([
    ['paragraphs', 'One\ntwo\n\nthree', 'One\ntwo\n\nthree'],
    ['emphasis', 'a **b** _c_ ~~d~~ `e`', 'a b c d e'],
    ['a heading', '# Title\n\ntext', 'Title\n\ntext'],
    ['a list', '- one\n- two\n- three', '- one\n- two\n- three'],
    ['a numbered list', '3. one\n4. two', '3. one\n4. two'],
    ['a list in a list', '- one\n  - a\n  - b\n- two', '- one\n  - a\n  - b\n- two'],
    ['a list with paragraphs', '- one\n\n  more\n\n- two', '- one\n\n  more\n\n- two'],
    ['a quote', '> said\n> twice\n>\n> thrice', '> said\n> twice\n>\n> thrice'],
    ['a list in a quote', '> - a\n> - b', '> - a\n> - b'],
    ['code', '```js\nlet a = 1;\n  b();\n```', 'let a = 1;\n  b();'],
    ['a rule', 'a\n\n---\n\nb', 'a\n\n---\n\nb'],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |', 'a | b\n1 | 2'],
    ['a link', 'see [our offer](https://acme.example/o)', 'see our offer (https://acme.example/o)'],
    ['a link that says where it goes', 'see <https://acme.example/o>', 'see https://acme.example/o'],
    ['a bare address', 'see https://acme.example/o', 'see https://acme.example/o'],
    ['a mail address', 'write [a@b.example](mailto:a@b.example)', 'write a@b.example'],
    ['an image', '![logo](https://x.example/p.png)', '!logo (https://x.example/p.png)'],
    ['HTML', '<b>bold</b>', '<b>bold</b>'],
    ['entities', 'a &amp; b &lt; c', 'a & b < c'],
    ['nothing', '', ''],
  ])('has %s', (_case, source, text) => {
    expect(markdownToText(source)).toBe(text);
  });

  it('comes to an end for any nesting', () => {
    expect(markdownToText(`${'>'.repeat(5000)} x`)).toMatch(/^(> ?)+/);
    expect(markdownToText(`${'- '.repeat(3000)}x`)).toMatch(/^(- )+/);
  });
});
