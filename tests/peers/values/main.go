// values writes the vectors that provider/sdk is tested with: values of every kind, as go-cty encodes them for a provider, with
// what go-cty reads back. Run `make vectors`.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"math/big"
	"os"
	"sort"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// vector is one value: its type as the schema gives it, what it means, and its bytes.
type vector struct {
	Name    string          `json:"name"`
	Type    json.RawMessage `json:"type"`
	Value   any             `json:"value"`
	Msgpack string          `json:"msgpack"`
}

func main() {
	names := map[string]bool{}
	var lines []string
	for _, c := range cases() {
		if names[c.name] {
			log.Fatalf("%s is there twice", c.name)
		}
		names[c.name] = true
		line, err := write(c)
		if err != nil {
			log.Fatalf("%s: %v", c.name, err)
		}
		lines = append(lines, line)
	}
	// One vector a line, so that a change shows.
	if _, err := fmt.Fprintf(os.Stdout, "[\n%s\n]\n", strings.Join(lines, ",\n")); err != nil {
		log.Fatal(err)
	}
}

func write(c sample) (string, error) {
	bytes, err := msgpack.Marshal(c.value, c.ty)
	if err != nil {
		return "", err
	}
	back, err := msgpack.Unmarshal(bytes, c.ty)
	if err != nil {
		return "", err
	}
	ty, err := ctyjson.MarshalType(c.ty)
	if err != nil {
		return "", err
	}
	told, err := describe(back, c.ty)
	if err != nil {
		return "", err
	}
	line, err := json.Marshal(vector{c.name, ty, told, hex.EncodeToString(bytes)})
	return string(line), err
}

// describe tells a value of the type that a schema gives as JSON: null, bools and texts as themselves, all else as an object with
// one member that names the kind.
func describe(v cty.Value, want cty.Type) (any, error) {
	if want == cty.DynamicPseudoType {
		return dynamic(v)
	}
	if !v.IsKnown() {
		return map[string]any{"unknown": refinements(v)}, nil
	}
	if v.IsNull() {
		return nil, nil
	}
	switch {
	case want == cty.Bool:
		return v.True(), nil
	case want == cty.String:
		return v.AsString(), nil
	case want == cty.Number:
		return map[string]any{"number": digits(v.AsBigFloat())}, nil
	case want.IsListType(), want.IsSetType(), want.IsTupleType():
		return sequence(v, want)
	case want.IsMapType(), want.IsObjectType():
		return members(v, want)
	}
	return nil, fmt.Errorf("no word for %#v", want)
}

func dynamic(v cty.Value) (any, error) {
	if v.Type() == cty.DynamicPseudoType {
		if !v.IsKnown() {
			return map[string]any{"unknown": map[string]any{}}, nil
		}
		return nil, nil
	}
	ty, err := ctyjson.MarshalType(v.Type())
	if err != nil {
		return nil, err
	}
	inner, err := describe(v, v.Type())
	return map[string]any{"dynamic": []any{json.RawMessage(ty), inner}}, err
}

func sequence(v cty.Value, want cty.Type) (any, error) {
	all := []any{}
	for it := v.ElementIterator(); it.Next(); {
		_, element := it.Element()
		ty := cty.NilType
		if want.IsTupleType() {
			ty = want.TupleElementType(len(all))
		} else {
			ty = want.ElementType()
		}
		told, err := describe(element, ty)
		if err != nil {
			return nil, err
		}
		all = append(all, told)
	}
	kind := "list"
	if want.IsSetType() {
		kind = "set"
	} else if want.IsTupleType() {
		kind = "tuple"
	}
	return map[string]any{kind: all}, nil
}

func members(v cty.Value, want cty.Type) (any, error) {
	all := map[string]any{}
	for name, element := range v.AsValueMap() {
		ty := cty.NilType
		if want.IsObjectType() {
			ty = want.AttributeType(name)
		} else {
			ty = want.ElementType()
		}
		told, err := describe(element, ty)
		if err != nil {
			return nil, err
		}
		all[name] = told
	}
	kind := "map"
	if want.IsObjectType() {
		kind = "object"
	}
	return map[string]any{kind: all}, nil
}

// refinements tells what is known of an unknown value.
func refinements(v cty.Value) map[string]any {
	known := map[string]any{}
	of := v.Range()
	if of.DefinitelyNotNull() {
		known["not_null"] = true
	}
	ty := v.Type()
	switch {
	case ty == cty.String:
		if prefix := of.StringPrefix(); prefix != "" {
			known["prefix"] = prefix
		}
	case ty == cty.Number:
		if low, inclusive := of.NumberLowerBound(); isBound(low) {
			known["min"] = []any{digits(low.AsBigFloat()), inclusive}
		}
		if high, inclusive := of.NumberUpperBound(); isBound(high) {
			known["max"] = []any{digits(high.AsBigFloat()), inclusive}
		}
	case ty.IsCollectionType():
		if low := of.LengthLowerBound(); low > 0 {
			known["min_length"] = low
		}
		if high := of.LengthUpperBound(); high < math.MaxInt {
			known["max_length"] = high
		}
	}
	return known
}

func isBound(v cty.Value) bool {
	return v.IsKnown() && !v.IsNull() && !v.AsBigFloat().IsInf()
}

// digits writes a number exactly where it is a float64, else as shortly as its precision allows, as go-cty does.
func digits(f *big.Float) string {
	if !f.IsInt() {
		if _, accuracy := f.Float64(); accuracy == big.Exact {
			return strings.TrimRight(f.Text('f', 1200), "0")
		}
	}
	return f.Text('f', -1)
}

// sample is a value to encode as one of a type.
type sample struct {
	name  string
	ty    cty.Type
	value cty.Value
}

func cases() []sample {
	var all []sample
	for _, part := range [][]sample{scalars(), numbers(), collections(), dynamics(), unknowns()} {
		all = append(all, part...)
	}
	return all
}

func scalars() []sample {
	all := []sample{
		{"true", cty.Bool, cty.True},
		{"false", cty.Bool, cty.False},
	}
	for name, text := range map[string]string{
		"empty":             "",
		"ascii":             "plain text",
		"composed":          "h\u00e9",
		"decomposed":        "he\u0301",
		"hangul decomposed": "\u1112\u1161\u11ab",
		"angstrom sign":     "\u212b",
		"ligature stays":    "\ufb01",
		"emoji":             "\U0001f469\u200d\U0001f680",
		"control":           "a\x00b\n\t\"\\",
		"31 bytes":          strings.Repeat("a", 31),
		"32 bytes":          strings.Repeat("a", 32),
		"255 bytes":         strings.Repeat("b", 255),
		"256 bytes":         strings.Repeat("b", 256),
	} {
		all = append(all, sample{"string " + name, cty.String, cty.StringVal(text)})
	}
	for name, ty := range map[string]cty.Type{
		"bool": cty.Bool, "number": cty.Number, "string": cty.String, "list": cty.List(cty.String), "set": cty.Set(cty.String),
		"map": cty.Map(cty.Bool), "object": cty.Object(map[string]cty.Type{"a": cty.String}), "tuple": cty.Tuple([]cty.Type{cty.Bool}),
	} {
		all = append(all, sample{"null " + name, ty, cty.NullVal(ty)}, sample{"unknown " + name, ty, cty.UnknownVal(ty)})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all
}

func numbers() []sample {
	var all []sample
	for _, text := range []string{
		"0", "1", "-1", "127", "128", "255", "256", "65535", "65536", "2147483647", "2147483648", "4294967295", "4294967296",
		"-32", "-33", "-128", "-129", "-32768", "-32769", "-2147483648", "-2147483649", "9007199254740993",
		"9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809", "18446744073709551615",
		"18446744073709551616", "123456789012345678901234567890", "-123456789012345678901234567890",
		"1" + strings.Repeat("0", 100), "1" + strings.Repeat("0", 140),
		"0.5", "-0.25", "0.1", "-0.1", "3.14159265358979323846264338327950288", "0.0000001", "123456789.125",
		"123456789012345678901234567890.5", "0." + strings.Repeat("0", 40) + "7",
	} {
		v, err := cty.ParseNumberVal(text)
		if err != nil {
			log.Fatal(err)
		}
		name := text
		if len(name) > 40 {
			name = fmt.Sprintf("%s... of %d", name[:10], len(name))
		}
		all = append(all, sample{"number " + name, cty.Number, v})
	}
	for name, float := range map[string]float64{
		"a tenth": 0.1, "largest": math.MaxFloat64, "smallest": math.SmallestNonzeroFloat64, "negative": -2.5e-3, "whole": 1e15, "third": 1.0 / 3,
	} {
		all = append(all, sample{"float " + name, cty.Number, cty.NumberFloatVal(float)})
	}
	sort.SliceStable(all, func(i, j int) bool {
		return strings.HasPrefix(all[i].name, "float") && strings.HasPrefix(all[j].name, "float") && all[i].name < all[j].name
	})
	return all
}

func text(texts ...string) []cty.Value {
	var all []cty.Value
	for _, one := range texts {
		all = append(all, cty.StringVal(one))
	}
	return all
}

func collections() []sample {
	requirement := cty.Object(map[string]cty.Type{"key": cty.String, "values": cty.List(cty.String), "min_values": cty.Number})
	known := cty.ObjectVal(map[string]cty.Value{
		"key": cty.StringVal("kubernetes.io/arch"), "values": cty.ListVal(text("amd64", "arm64")), "min_values": cty.NullVal(cty.Number),
	})
	partly := cty.ObjectVal(map[string]cty.Value{
		"key": cty.StringVal("k"), "values": cty.UnknownVal(cty.List(cty.String)), "min_values": cty.NumberIntVal(2),
	})
	nested := cty.Object(map[string]cty.Type{
		"deep": cty.Map(cty.List(cty.Set(cty.Tuple([]cty.Type{cty.Number, cty.String})))),
	})
	pair := func(number int64, text string) cty.Value {
		return cty.TupleVal([]cty.Value{cty.NumberIntVal(number), cty.StringVal(text)})
	}
	var many []cty.Value
	for number := range int64(20) {
		many = append(many, cty.NumberIntVal(number))
	}
	return []sample{
		{"list empty", cty.List(cty.String), cty.ListValEmpty(cty.String)},
		{"list", cty.List(cty.String), cty.ListVal(text("b", "a", "b"))},
		{"list with null and unknown", cty.List(cty.String), cty.ListVal([]cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String), cty.NullVal(cty.String)})},
		{"list of 20", cty.List(cty.Number), cty.ListVal(many)},
		{"list of objects", cty.List(requirement), cty.ListVal([]cty.Value{known, partly})},
		{"set empty", cty.Set(cty.String), cty.SetValEmpty(cty.String)},
		{"set of strings", cty.Set(cty.String), cty.SetVal(text("b", "a", "c"))},
		{"set of equal strings", cty.Set(cty.String), cty.SetVal(text("h\u00e9", "he\u0301"))},
		{"set of numbers", cty.Set(cty.Number), cty.SetVal(many)},
		{"set of bools", cty.Set(cty.Bool), cty.SetVal([]cty.Value{cty.True, cty.False})},
		{"set of objects", cty.Set(requirement), cty.SetVal([]cty.Value{known})},
		{"set with unknown", cty.Set(cty.String), cty.SetVal([]cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String)})},
		{"set with null", cty.Set(cty.String), cty.SetVal([]cty.Value{cty.StringVal("a"), cty.NullVal(cty.String)})},
		{"map empty", cty.Map(cty.String), cty.MapValEmpty(cty.String)},
		{"map", cty.Map(cty.String), cty.MapVal(map[string]cty.Value{"b": cty.StringVal("2"), "a": cty.StringVal("1"), "": cty.NullVal(cty.String)})},
		{"map with odd keys", cty.Map(cty.Bool), cty.MapVal(map[string]cty.Value{"he\u0301": cty.True, "z": cty.False, "\U0001f600": cty.UnknownVal(cty.Bool), "a.b/c": cty.True})},
		{"object empty", cty.EmptyObject, cty.EmptyObjectVal},
		{"object", requirement, known},
		{"object partly unknown", requirement, partly},
		{"object of nulls", requirement, cty.ObjectVal(map[string]cty.Value{"key": cty.NullVal(cty.String), "values": cty.NullVal(cty.List(cty.String)), "min_values": cty.NullVal(cty.Number)})},
		{"tuple empty", cty.EmptyTuple, cty.EmptyTupleVal},
		{"tuple", cty.Tuple([]cty.Type{cty.Number, cty.String, cty.List(cty.Bool)}), cty.TupleVal([]cty.Value{cty.NumberIntVal(3), cty.StringVal("x"), cty.ListVal([]cty.Value{cty.True})})},
		{"tuple with unknown", cty.Tuple([]cty.Type{cty.Number, cty.String}), cty.TupleVal([]cty.Value{cty.UnknownVal(cty.Number), cty.NullVal(cty.String)})},
		{"nested", nested, cty.ObjectVal(map[string]cty.Value{"deep": cty.MapVal(map[string]cty.Value{
			"one": cty.ListVal([]cty.Value{cty.SetVal([]cty.Value{pair(1, "a"), pair(2, "b")}), cty.SetValEmpty(cty.Tuple([]cty.Type{cty.Number, cty.String}))}),
			"two": cty.ListValEmpty(cty.Set(cty.Tuple([]cty.Type{cty.Number, cty.String}))),
		})})},
	}
}

func dynamics() []sample {
	open := cty.DynamicPseudoType
	values := cty.ObjectVal(map[string]cty.Value{
		"replicas": cty.NumberIntVal(2), "image": cty.ObjectVal(map[string]cty.Value{"tag": cty.StringVal("v1"), "pull": cty.NullVal(open)}),
		"args": cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.NumberFloatVal(0.5), cty.True, cty.EmptyObjectVal}),
	})
	return []sample{
		{"dynamic bool", open, cty.True},
		{"dynamic string", open, cty.StringVal("x")},
		{"dynamic number", open, cty.MustParseNumberVal("123456789012345678901234567890.5")},
		{"dynamic null", open, cty.NullVal(open)},
		{"dynamic typed null", open, cty.NullVal(cty.List(cty.String))},
		{"dynamic unknown", open, cty.DynamicVal},
		{"dynamic typed unknown", open, cty.UnknownVal(cty.String)},
		{"dynamic refined unknown", open, cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("arn:").NewValue()},
		{"dynamic list", open, cty.ListVal(text("a", "b"))},
		{"dynamic set", open, cty.SetVal(text("a", "b"))},
		{"dynamic map", open, cty.MapVal(map[string]cty.Value{"a": cty.UnknownVal(cty.Number)})},
		{"dynamic object", open, values},
		{"object with dynamic", cty.Object(map[string]cty.Type{"values": open, "name": cty.String}), cty.ObjectVal(map[string]cty.Value{"values": values, "name": cty.StringVal("r")})},
		{"object with dynamic unknown", cty.Object(map[string]cty.Type{"values": open}), cty.ObjectVal(map[string]cty.Value{"values": cty.DynamicVal})},
		{"object with dynamic null", cty.Object(map[string]cty.Type{"values": open}), cty.ObjectVal(map[string]cty.Value{"values": cty.NullVal(open)})},
		{"list of dynamic", cty.List(open), cty.ListVal(text("a", "b"))},
		{"map of dynamic", cty.Map(open), cty.MapVal(map[string]cty.Value{"a": cty.NumberIntVal(1), "b": cty.NullVal(cty.Number)})},
		{"tuple with dynamic", cty.Tuple([]cty.Type{open, cty.Bool}), cty.TupleVal([]cty.Value{cty.EmptyTupleVal, cty.False})},
	}
}

func unknowns() []sample {
	refined := func(ty cty.Type) *cty.RefinementBuilder { return cty.UnknownVal(ty).Refine() }
	object := cty.Object(map[string]cty.Type{"a": cty.String})
	return []sample{
		{"refined bool", cty.Bool, refined(cty.Bool).NotNull().NewValue()},
		{"refined object", object, refined(object).NotNull().NewValue()},
		{"refined string", cty.String, refined(cty.String).NotNull().NewValue()},
		{"refined prefix", cty.String, refined(cty.String).StringPrefixFull("https://").NewValue()},
		{"refined prefix that may grow", cty.String, refined(cty.String).StringPrefix("e").NewValue()},
		{"refined prefix not ascii", cty.String, refined(cty.String).NotNull().StringPrefixFull("\u00fcber-").NewValue()},
		{"refined prefix long", cty.String, refined(cty.String).NotNull().StringPrefixFull(strings.Repeat("p", 300)).NewValue()},
		{"refined min", cty.Number, refined(cty.Number).NumberRangeLowerBound(cty.NumberIntVal(1), true).NewValue()},
		{"refined min exclusive", cty.Number, refined(cty.Number).NotNull().NumberRangeLowerBound(cty.NumberIntVal(-5), false).NewValue()},
		{"refined max", cty.Number, refined(cty.Number).NumberRangeUpperBound(cty.MustParseNumberVal("2.5"), true).NewValue()},
		{"refined range", cty.Number, refined(cty.Number).NotNull().NumberRangeInclusive(cty.Zero, cty.NumberIntVal(65535)).NewValue()},
		{"refined range of large numbers", cty.Number, refined(cty.Number).NotNull().NumberRangeInclusive(cty.MustParseNumberVal("0.1"), cty.MustParseNumberVal("123456789012345678901234567890")).NewValue()},
		{"refined list", cty.List(cty.String), refined(cty.List(cty.String)).NotNull().NewValue()},
		{"refined list lengths", cty.List(cty.String), refined(cty.List(cty.String)).NotNull().CollectionLengthLowerBound(1).CollectionLengthUpperBound(3).NewValue()},
		{"refined set length", cty.Set(cty.String), refined(cty.Set(cty.String)).CollectionLengthLowerBound(1).NewValue()},
		{"refined map length", cty.Map(cty.String), refined(cty.Map(cty.String)).NotNull().CollectionLengthUpperBound(70000).NewValue()},
		{"refined in a list", cty.List(cty.String), cty.ListVal([]cty.Value{cty.StringVal("a"), refined(cty.String).NotNull().StringPrefixFull("b").NewValue()})},
	}
}
