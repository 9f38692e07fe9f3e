import type { RE2JS } from 're2js';
import { posixRegex, regexProblem } from './posix-regex.js';
import type { RuleSettings } from './settings.js';

/** An enabled and valid rule. */
export interface LogRule {
  /** Text before each message; empty for none. */
  readonly prefix: string;
  /** Id of the action. */
  readonly action: number;
}

interface Compiled extends LogRule {
  readonly wanted: readonly string[];
  readonly unwanted: readonly string[];
  readonly regex: RE2JS | undefined;
}

/** Maximum number of topic sets whose matching rules are cached; usually there are a few dozen. */
const MAX_REMEMBERED = 1_000;

/** The rules that send messages to actions. */
export class LogRules {
  readonly #rules: readonly Compiled[];
  readonly #byTopics = new Map<string, readonly Compiled[]>();

  /** @param actionOf id of an action by name; a rule without an action, or with an invalid expression, has no effect */
  constructor(rules: readonly RuleSettings[], actionOf: (name: string) => number | undefined) {
    this.#rules = rules.flatMap(({ topics, prefix, regex, action: name }) => {
      const action = actionOf(name);
      // An expression stored by another version may be invalid in this one.
      if (action === undefined || (regex !== undefined && regexProblem(regex) !== undefined)) return [];
      return [
        {
          prefix,
          action,
          wanted: topics.filter((topic) => !topic.startsWith('!')),
          unwanted: topics.filter((topic) => topic.startsWith('!')).map((topic) => topic.slice(1)),
          regex: regex === undefined ? undefined : posixRegex(regex),
        },
      ];
    });
  }

  /**
   * Rules that a message matches: it has all their wanted topics and none of their unwanted ones, and their regular
   * expression matches its text.
   * @param topics comma list
   */
  matching(topics: string, text: string): readonly LogRule[] {
    const rules = this.#of(topics);
    return rules.some(({ regex }) => regex !== undefined)
      ? rules.filter(({ regex }) => regex === undefined || regex.test(text))
      : rules;
  }

  #of(topics: string): readonly Compiled[] {
    let rules = this.#byTopics.get(topics);
    if (rules === undefined) {
      const has = new Set(topics.split(','));
      rules = this.#rules.filter(
        ({ wanted, unwanted }) => wanted.every((topic) => has.has(topic)) && !unwanted.some((topic) => has.has(topic)),
      );
      if (this.#byTopics.size >= MAX_REMEMBERED) this.#byTopics.clear();
      this.#byTopics.set(topics, rules);
    }
    return rules;
  }
}
