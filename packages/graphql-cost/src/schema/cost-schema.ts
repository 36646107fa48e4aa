/** A schema as far as prices depend on it. All weights are in thousandths of a point. */
export type CostSchema = {
  roots: { query?: ObjectType; mutation?: ObjectType; subscription?: ObjectType };
  types: ReadonlyMap<string, OutputType>;
  inputTypes: ReadonlyMap<string, Leaf | InputType>;
  /** The arguments of directives on fields, by the directive's name. */
  directives: ReadonlyMap<string, ReadonlyMap<string, Input>>;
  /** Items of a list whose size nothing tells. */
  listSize: number;
};

export type OutputType = Leaf | CompositeType;

export type CompositeType = ObjectType | AbstractType;

/** A scalar or an enum. */
export type Leaf = { kind: 'leaf'; name: string; weight: number };

export type ObjectType = { kind: 'object'; name: string; weight: number; fields: Map<string, Field> };

/** An interface or a union. It weighs as much as the dearest of its members. */
export type AbstractType = { kind: 'abstract'; name: string; weight: number; members: Set<ObjectType> };

export type InputType = { kind: 'input'; name: string; fields: Map<string, Input> };

export type Field = {
  weight: number;
  arguments: Map<string, Input>;
  type: OutputType;
  isList: boolean;
  size: SizeRule | null;
};

/** An argument or an input field. */
export type Input = {
  weight: number;
  type: Leaf | InputType;
  isList: boolean;
  /** Undefined if it has none. */
  default: unknown;
  /** Whether it, or anything in it, can have a weight. */
  weighs: boolean;
};

/** What `@listSize` says of a field. Paths are names of arguments and input fields, or of fields. */
export type SizeRule = {
  slicing: readonly (readonly string[])[];
  assumed: number | null;
  /** The lists below the field that have its size, in place of the field itself. */
  sized: readonly (readonly string[])[];
};
