/** A number of the vectors: those that JSON lacks are read as such. */
export type Rows = number[][];
/** What an implementation found: the outputs that it has, `loss`, `dlogp`, `term`, `advantage`, `report` ... */
export type Answer = { [output: string]: number | boolean | ReadonlyArray<unknown> | Answer };
export interface Case {
  id: string;
  kind: "objective" | "split" | "logits" | "hidden" | "call" | "refuse";
  comment: string;
  flags: string[];
  /** the choices; what is left out has its default, the first choice or 0 */
  objective: { [axis: string]: { [field: string]: string | number } };
  batch: {
    group: number[]; length: number[]; reward: number[];
    logp: Rows; logp_old: Rows; logp_ref: Rows; mask: boolean[][];
    [array: string]: unknown;
  };
  expect: Answer;
  scale: Answer;
  defects: { [mistake: string]: unknown };
}
export interface Difference { place: string; found: number; expected: number; allowed: number }
/** inFull: every number that was found is the mistake's; else the one number that is recorded of it is */
export interface Finding { mistake: string; inFull: boolean }
export interface Mistake { wrong: string; right: string; seen: string }
/** The names of all rows. */
export function variants(): string[];
/** The cases of a row. */
export function cases(variant: string): Case[];
/** Given with the case, or the exact ones of the objective. */
export function advantage(c: Case): Rows;
export function mask(c: Case): boolean[][];
/** A choice or a number, "surrogate.eps_low"; undefined where it has its default. */
export function setting(c: Case, path: string): string | number | undefined;
/** The numbers that are wrong by more than k eps of their scale; 64 is usual. Throws where the answer has an unknown output, another shape
    than the case, something that is no number, or nothing that can be judged. */
export function compare(c: Case, answer: Answer, k?: number): Difference[];
/** The known mistakes that give what was found, those in full first. */
export function diagnose(c: Case, answer: Answer, k?: number): Finding[];
export function mistake(name: string): Mistake | undefined;
/** What is wrong, in words. */
export function report(c: Case, answer: Answer, k?: number): string;
