/** Rows of a table of tests that only `npm run soak` goes through: in `npm test` the other rows stand for them. */
export const inSoak = <Row>(...rows: Row[]): Row[] => (process.env.TOLLWAY_SOAK === undefined ? [] : rows);
