-- CreateTable
CREATE TABLE "Identity" (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "value" TEXT NOT NULL
);
INSERT INTO "Identity" ("id", "value") VALUES (1, lower(hex(randomblob(16))));
