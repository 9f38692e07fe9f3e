-- CreateTable
CREATE TABLE "ConfigRow" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "menu" TEXT NOT NULL,
    "rank" INTEGER NOT NULL,
    "disabled" BOOLEAN NOT NULL DEFAULT false,
    "comment" TEXT,
    "data" JSONB NOT NULL
);

-- CreateTable
CREATE TABLE "Revision" (
    "number" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "parent" INTEGER NOT NULL,
    "author" TEXT NOT NULL,
    "time" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "summary" TEXT NOT NULL,
    "diff" JSONB NOT NULL,
    "sha256" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "User" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "name" TEXT NOT NULL,
    "passwordHash" TEXT,
    "group" TEXT NOT NULL,
    "disabled" BOOLEAN NOT NULL DEFAULT false,
    "comment" TEXT,
    "lastLoggedIn" DATETIME
);

-- CreateTable
CREATE TABLE "Session" (
    "tokenHash" TEXT NOT NULL PRIMARY KEY,
    "userId" INTEGER NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" DATETIME NOT NULL,
    "address" TEXT NOT NULL,
    CONSTRAINT "Session_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "Audit" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "time" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "user" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "detail" TEXT NOT NULL,
    "revision" INTEGER
);

-- CreateIndex
CREATE INDEX "ConfigRow_menu_rank_idx" ON "ConfigRow"("menu", "rank");

-- CreateIndex
CREATE UNIQUE INDEX "Revision_parent_key" ON "Revision"("parent");

-- CreateIndex
CREATE UNIQUE INDEX "User_name_key" ON "User"("name");

-- CreateIndex
CREATE INDEX "Session_userId_idx" ON "Session"("userId");

-- CreateIndex
CREATE INDEX "Session_expiresAt_idx" ON "Session"("expiresAt");

-- CreateIndex
CREATE INDEX "Audit_time_idx" ON "Audit"("time");


