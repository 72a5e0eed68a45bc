// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// defaultMaximum is how many elements a list or a map has at most that maxima has no number for. It is more than any
// pod is known to need, and few enough for rules that look at pairs of elements.
const defaultMaximum = 256

// maxima are how many elements the lists and maps of a box have at most, and how many bytes its strings, by the Go type
// and the JSON name of the field. Those of ModelBoxSpec and ModelBoxService are published as well, by tags of the served
// type. Kubernetes has few such limits itself; each is beyond what it can run, or is known to:
//
//   - containers: a node has 110 pods by default, each of a few containers.
//   - ports: an EndpointSlice is documented to have up to 100, cloud load balancers take fewer.
//   - variables and arguments: Linux takes 2 MiB of both together, so they may be many, but no more than
//     all other applications have.
//   - volumes and mounts: a kubelet sets them up one by one for minutes long before there are so many.
//   - resources: a node has a few, and each hugepage size and device is one.
//   - annotations: 256 KiB together, in Kubernetes as well.
//   - images: names have up to 255 bytes in a registry, tags 128 and digests 135, behind a host name of up to 253.
var maxima = map[string]int{
	"ModelBoxSpec.image":                       1024,
	"ModelBoxSpec.command":                     1024,
	"ModelBoxSpec.args":                        1024,
	"ModelBoxSpec.envs":                        1024,
	"ModelBoxSpec.containers":                  100,
	"ModelBoxSpec.initContainers":              100,
	"ModelBoxSpec.annotations":                 1024,
	"ModelBoxService.annotations":              1024,
	"ModelBoxService.loadBalancerSourceRanges": 1024,
	"ObjectMeta.annotations":                   1024,
	"PodSpec.containers":                       100,
	"PodSpec.initContainers":                   100,
	"PodSpec.overhead":                         64,
	"Container.image":                          1024,
	"Container.command":                        1024,
	"Container.args":                           1024,
	"Container.env":                            1024,
	"ResourceRequirements.limits":              64,
	"ResourceRequirements.requests":            64,
	"ConfigMapVolumeSource.items":              1024,
	"SecretVolumeSource.items":                 1024,
	"ConfigMapProjection.items":                1024,
	"SecretProjection.items":                   1024,
	"NodeSelectorRequirement.values":           1024,
	"LabelSelectorRequirement.values":          1024,
}

// ValidateLimits returns which lists, maps and strings of a box are larger than they may be. It costs little, whatever
// the box is, and what it accepts the other rules can afford to validate.
func ValidateLimits(box *model.ModelBox) field.ErrorList {
	return findExcesses(box).errors(nil)
}

// ValidateLimitsUpdate is ValidateLimits of a box that replaces old. What was larger already may stay, but not grow.
func ValidateLimitsUpdate(box, old *model.ModelBox) field.ErrorList {
	found := findExcesses(box)
	if len(found) == 0 {
		return nil
	}
	return found.errors(findExcesses(old))
}

// excess is a value that is larger than it may be.
type excess struct {
	path *field.Path
	kind reflect.Kind
	// size and maximum are bytes of a string, and elements of a list or a map.
	size, maximum int
}

type excesses []excess

// errors returns what is wrong with the box that has the excesses, without those that the one before it had.
func (e excesses) errors(old excesses) field.ErrorList {
	known := map[string]int{}
	for _, excess := range old {
		place := placeOf(excess.path)
		known[place] = max(known[place], excess.size)
	}
	var errs field.ErrorList
	for _, excess := range validate.Each(e, &errs) {
		switch {
		case excess.size <= known[placeOf(excess.path)]:
		case excess.kind == reflect.String:
			errs = append(errs, field.TooLong(excess.path, field.OmitValueType{}, excess.maximum))
		default:
			errs = append(errs, field.TooMany(excess.path, excess.size, excess.maximum))
		}
	}
	return errs
}

var listIndex = regexp.MustCompile(`\[[0-9]+\]`)

// placeOf is the path without the indexes of list elements, which may have moved.
func placeOf(path *field.Path) string {
	return listIndex.ReplaceAllString(path.String(), "[]")
}

func findExcesses(box *model.ModelBox) excesses {
	meta := metav1.ObjectMeta{
		Labels: box.Labels, Annotations: box.Annotations, OwnerReferences: box.OwnerReferences, Finalizers: box.Finalizers,
	}
	found := excesses{}
	visit := func(path *lazyPath, key string, value reflect.Value) {
		size, limited := 0, true
		maximum, given := maxima[key]
		switch value.Kind() {
		case reflect.Slice, reflect.Map:
			size = value.Len()
			if !given {
				maximum = defaultMaximum
			}
		case reflect.String:
			size, limited = value.Len(), given
		default:
			limited = false
		}
		if limited && size > maximum {
			found = append(found, excess{path.build(), value.Kind(), size, maximum})
		}
	}
	visitFields(reflect.ValueOf(&meta), &lazyPath{step: "metadata"}, "", visit)
	visitFields(reflect.ValueOf(&box.Spec), &lazyPath{step: "spec"}, "", visit)
	return found
}

// ValidateNoDirectives refuses keys of maps in the overlay of a box that would be directives to a strategic merge, such
// as "$patch": they would say how to merge, where a map of names and values has to be, and are lost in it.
func ValidateNoDirectives(box *model.ModelBox) field.ErrorList {
	if box.Spec.PodTemplate == nil {
		return nil
	}
	var errs field.ErrorList
	path := &lazyPath{step: "podTemplate", parent: &lazyPath{step: "spec"}}
	visitFields(reflect.ValueOf(box.Spec.PodTemplate), path, "", func(path *lazyPath, _ string, value reflect.Value) {
		if value.Kind() != reflect.Map {
			return
		}
		for _, key := range value.MapKeys() {
			if helper.IsMergeDirective(key.String()) && len(errs) < validate.MaxErrors {
				errs = append(errs, field.Forbidden(path.build().Key(key.String()),
					"would be a directive to the merge of podTemplate, which adds and replaces only"))
			}
		}
	})
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

// ValidateNoDirectivesUpdate is ValidateNoDirectives of a box that replaces old, without what stays.
func ValidateNoDirectivesUpdate(box, old *model.ModelBox) field.ErrorList {
	errs := ValidateNoDirectives(box)
	if len(errs) == 0 {
		return nil
	}
	return Ratchet(field.NewPath("spec", "podTemplate"), box.Spec.PodTemplate, old.Spec.PodTemplate, errs, ValidateNoDirectives(old))
}

// lazyPath is the path of a field that costs nothing before it is asked for.
type lazyPath struct {
	parent *lazyPath
	// step is the JSON name of a field, or the key of a map in isKey; empty for the element of index.
	step  string
	index int
	isKey bool
}

func (p *lazyPath) build() *field.Path {
	switch {
	case p.parent == nil:
		return field.NewPath(p.step)
	case p.isKey:
		return p.parent.build().Key(p.step)
	case p.step == "":
		return p.parent.build().Index(p.index)
	default:
		return p.parent.build().Child(p.step)
	}
}

// leafTypes have no fields that a user gives a list, a map or a string for.
var leafTypes = map[reflect.Type]bool{
	reflect.TypeFor[resource.Quantity](): true, reflect.TypeFor[metav1.Time](): true,
	reflect.TypeFor[[]metav1.ManagedFieldsEntry](): true,
}

// visitFields calls visit for the value at path and all that is below it. key is the name of the type that has the value
// as a field, a dot, and the JSON name of the field; empty for an element of a list or a map.
func visitFields(value reflect.Value, path *lazyPath, key string, visit func(*lazyPath, string, reflect.Value)) {
	if value.Kind() == reflect.Pointer {
		if !value.IsNil() {
			visitFields(value.Elem(), path, key, visit)
		}
		return
	}
	if leafTypes[value.Type()] {
		return
	}
	visit(path, key, value)
	switch value.Kind() {
	case reflect.Struct:
		for _, field := range fieldsOf(value.Type()) {
			step := path
			if field.name != "" {
				step = &lazyPath{parent: path, step: field.name}
			}
			visitFields(value.Field(field.index), step, field.key, visit)
		}
	case reflect.Slice:
		if !hasFields(value.Type().Elem()) {
			return
		}
		for i := range value.Len() {
			visitFields(value.Index(i), &lazyPath{parent: path, index: i}, "", visit)
		}
	case reflect.Map:
		if !hasFields(value.Type().Elem()) {
			return
		}
		for _, name := range value.MapKeys() {
			visitFields(value.MapIndex(name), &lazyPath{parent: path, step: name.String(), isKey: true}, "", visit)
		}
	}
}

// hasFields returns whether there can be anything below a value of the type.
func hasFields(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return (t.Kind() == reflect.Struct || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && !leafTypes[t]
}

// structField is a field of a struct.
type structField struct {
	index int
	// name is its JSON name, empty for one whose fields are those of the struct.
	name string
	key  string
}

// fieldsByType are the fields of each type that a box can have below which there are limits.
var fieldsByType = func() map[reflect.Type][]structField {
	known := map[reflect.Type][]structField{}
	addFields(reflect.TypeFor[model.ModelBoxSpec](), known)
	addFields(reflect.TypeFor[metav1.ObjectMeta](), known)
	return known
}()

func fieldsOf(t reflect.Type) []structField {
	fields, ok := fieldsByType[t]
	if !ok {
		panic(fmt.Sprintf("%v is not among the types that a box has", t))
	}
	return fields
}

func addFields(t reflect.Type, known map[reflect.Type][]structField) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if _, ok := known[t]; ok || t.Kind() != reflect.Struct || leafTypes[t] {
		return
	}
	known[t] = nil
	fields := []structField{}
	for i := range t.NumField() {
		f := t.Field(i)
		kind := f.Type
		for kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		name := jsonName(f)
		key := t.Name() + "." + name
		if _, isLimited := maxima[key]; !f.IsExported() || name == "-" || !hasFields(kind) && !isLimited {
			continue
		}
		addFields(f.Type, known)
		fields = append(fields, structField{index: i, name: name, key: key})
	}
	known[t] = fields
}

// jsonName is that of the field in the served version: the internal types, which have no tags, name their fields alike.
func jsonName(f reflect.StructField) string {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name != "" || f.Anonymous || options == "inline" {
		return name
	}
	capitals := strings.IndexFunc(f.Name, unicode.IsLower)
	if capitals > 1 { // an abbreviation and the first letter of the next word
		capitals--
	}
	return strings.ToLower(f.Name[:capitals]) + f.Name[capitals:]
}
