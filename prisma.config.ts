import { defineConfig } from 'prisma/config';

/** For `prisma migrate` during development; the product applies its migrations itself. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? 'file:./data/tollway.db' },
});
