-- CreateTable
CREATE TABLE "QueueDay" (
    "row" INTEGER NOT NULL,
    "day" TEXT NOT NULL,
    "menu" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "upload" BIGINT NOT NULL,
    "download" BIGINT NOT NULL,
    "seenUpload" BIGINT NOT NULL,
    "seenDownload" BIGINT NOT NULL,
    "run" TEXT NOT NULL,

    PRIMARY KEY ("row", "day")
);

-- CreateIndex
CREATE INDEX "QueueDay_day_idx" ON "QueueDay"("day");
