import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { escapeHtml, htmlPage, pagePolicy } from '../../platform/http/page.js';
import { Route } from '../../platform/http/route.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { READS } from '../../platform/rate-limit/limits.js';

/** Where the link in `approval.requested` leads: how to read the approval and to decide, for a person with a token. */
@Controller('approvals')
export class ApprovalPageController {
  constructor(private readonly address: PublicAddress) {}

  /** The same for every id, whether there is such an approval or not: it does not know who asks. */
  @Get(':approvalId')
  @ApiExcludeEndpoint()
  @Header('Content-Security-Policy', pagePolicy("'none'"))
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Route({
    auth: 'public',
    limit: READS,
    returns: { 200: { 'text/html': '<!doctype html>' } },
    errors: [NotFound],
  })
  page(@Param('approvalId') approvalId: string): string {
    if (!isId('apr', approvalId)) throw new NotFound();
    return pageFor(`${this.address.url}/api/pro/approvals/${approvalId}`);
  }
}

function pageFor(approval: string): string {
  const token = '-H "x-service-token: $TOKEN"';
  const json = "-H 'Content-Type: application/json'";
  return htmlPage(
    'A draft waits for a decision',
    `<p class="text">This page cannot show it, because it does not know who you are. With an operator token of the workspace you can read it:</p>
<pre>${escapeHtml(`curl -s ${approval} ${token}`)}</pre>
<p class="text">Approve what you have read; <code>contentHash</code> stands in the answer:</p>
<pre>${escapeHtml(`curl -s -X POST ${approval}/approve ${token} -H 'If-Match: <contentHash>'`)}</pre>
<p class="text">Or reject it and say why:</p>
<pre>${escapeHtml(`curl -s -X POST ${approval}/reject ${token} ${json} -d '{"feedback":"Not now."}'`)}</pre>
<p class="text">A question is not approved but answered, in the form of its <code>answerSchema</code>:</p>
<pre>${escapeHtml(`curl -s -X POST ${approval}/respond ${token} ${json} -d '{"answer":{}}'`)}</pre>
<p class="text">The <a href="/docs">API reference</a> says what else you can do with it.</p>`,
  );
}
