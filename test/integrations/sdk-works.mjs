// Run by sdk-package.spec.ts under each Node.js of the machine: what needs WebCrypto, and what is bundled for Node.js.
import assert from 'node:assert/strict';
import { permits, webhooks } from '@consigliere/sdk';
import { verify } from '@consigliere/sdk/audit';

const body = JSON.stringify({ event: 'report.daily', timestamp: 1, workspaceId: 'wks_1', payload: {} });
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
assert.equal((await webhooks.unwrap(body, await webhooks.sign(body, secret), secret)).event, 'report.daily');

const { publicKey, privateKey } = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
const { kty, crv, x } = await crypto.subtle.exportKey('jwk', publicKey);
const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const iat = Math.floor(Date.now() / 1_000);
const params = { order: 'A-17' };
const digest = await crypto.subtle.digest(
  'SHA-256',
  Buffer.from('{"params":{"order":"A-17"},"tool":"shop.refund"}'),
);
const claims = {
  ...{
    sub: 'act_1',
    iss: 'https://c.example',
    aud: 'shop.refund',
    workspace_id: 'wks_1',
    tool: 'shop.refund',
  },
  ...{ params_sha256: Buffer.from(digest).toString('hex'), iat, exp: iat + 60, jti: 'one' },
};
const signed = `${encoded({ alg: 'EdDSA', typ: 'consigliere-permit+jwt', kid: 'k' })}.${encoded(claims)}`;
const signature = await crypto.subtle.sign('Ed25519', privateKey, Buffer.from(signed));
const permit = `${signed}.${Buffer.from(signature).toString('base64url')}`;
const options = { issuer: 'https://c.example', workspaceId: 'wks_1', tool: 'shop.refund', params };
const keys = [{ kty, crv, x, kid: 'k', alg: 'EdDSA', use: 'sig' }];
assert.equal((await permits.verify(permit, { ...options, keys })).sub, 'act_1');
await assert.rejects(permits.verify(permit, { ...options, keys }), permits.PermitRefused);

const { isSound, words } = await verify(process.argv[2]);
assert.ok(isSound && words.length > 3);
console.log('works');
