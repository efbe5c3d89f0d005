/** How a report looks as Markdown, for the documentation. */
export const MARKDOWN_EXAMPLE = `# Daily Report, Tuesday, 17 February 2026

12 directives executed, 1,204.50 EUR earned, 3 approvals waiting (1 urgent).

## Waiting for you

- Approvals: 3
- Urgent: 1
`;
