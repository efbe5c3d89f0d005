export type { Consigliere } from '@consigliere/sdk';
