// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"reflect"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/jsonform"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/jsonname"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// defaultMaximum is the maximum number of elements of a list or a map that is not in maxima. It is more than any pod is known to
// need, and small enough for rules that compare pairs of elements.
const defaultMaximum = 256

// maxima are the maximum number of elements of the lists and maps of a box, a stack or a PodDebugger, and the maximum number of
// bytes of their strings, by the Go type and the JSON name of the field. Tags of the served type have the limits of ModelBoxSpec,
// ModelBoxService, ModelBoxAutoscaling and PodDebuggerSpec as well. Kubernetes itself has few such limits. Each one is larger than
// a cluster can run, or is known to need:
//
//   - containers: a node has 110 pods by default, each of a few containers.
//   - ports: an EndpointSlice is documented to have up to 100, cloud load balancers take fewer.
//   - variables and arguments: Linux accepts 2 MiB of both together.
//   - volumes and mounts: a kubelet mounts them one by one, which takes minutes for fewer of them.
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
	"ModelBoxSpec.configs":                     64,
	"ModelBoxSpec.storage":                     64,
	"ModelBoxSpec.networks":                    16,
	"ModelBoxJob.image":                        1024,
	"ModelBoxJob.command":                      1024,
	"ModelBoxJob.args":                         1024,
	"ModelBoxJob.envs":                         1024,
	"ModelBoxCronJobSpec.schedule":             1024,
	"ModelBoxCronJobSpec.timeZone":             256,
	"ModelBoxIngress.hosts":                    64,
	"ModelBoxIngress.annotations":              1024,
	"ModelBoxIngress.paths":                    64,
	"ModelBoxRoute.parentRefs":                 32,
	"ModelBoxRoute.hosts":                      16,
	"ModelBoxRoute.rules":                      16,
	"ModelBoxGRPCRoute.parentRefs":             32,
	"ModelBoxGRPCRoute.hosts":                  16,
	"ModelBoxGRPCRoute.rules":                  16,
	"GRPCRouteRule.matches":                    64,
	"GRPCRouteMatch.headers":                   16,
	"RouteRule.matches":                        64,
	"RouteMatch.headers":                       16,
	"RouteMatch.queryParams":                   16,
	"RouteHeaderModifier.set":                  16,
	"RouteHeaderModifier.add":                  16,
	"RouteHeaderModifier.remove":               16,
	"ModelBoxAutoscaling.metrics":              64,
	"ModelStackSpec.components":                500,
	"ModelStackComponent.dependsOn":            64,
	"ModelBoxService.annotations":              1024,
	"ModelBoxService.loadBalancerSourceRanges": 1024,
	"ObjectMeta.annotations":                   1024,
	"PodDebuggerSpec.image":                    1024,
	"PodDebuggerSpec.command":                  1024,
	"PodDebuggerSpec.args":                     1024,
	"PodDebuggerSpec.env":                      1024,
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

// ValidateLimits returns an error for each list, map and string of a box that is too large. It costs little for any box, and the
// cost of the other rules is limited for a box that it accepts.
func ValidateLimits(box *model.ModelBox) field.ErrorList {
	return findExcesses(&box.ObjectMeta, &box.Spec).errors(nil)
}

// ValidateLimitsUpdate is ValidateLimits for an update of old. A value that is too large in old may stay, but not grow.
func ValidateLimitsUpdate(box, old *model.ModelBox) field.ErrorList {
	return findExcesses(&box.ObjectMeta, &box.Spec).newErrors(func() excesses { return findExcesses(&old.ObjectMeta, &old.Spec) })
}

// excess is a value that is too large.
type excess struct {
	path *field.Path
	kind reflect.Kind
	// size and maximum are bytes of a string, and elements of a list or a map.
	size, maximum int
}

type excesses []excess

// newErrors returns errors for the excesses that old does not have.
func (e excesses) newErrors(old func() excesses) field.ErrorList {
	if len(e) == 0 {
		return nil
	}
	return e.errors(old())
}

// errors returns errors for the excesses that are not in old.
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

// placeOf returns the path without the indexes of list elements, because elements can move.
func placeOf(path *field.Path) string {
	return listIndex.ReplaceAllString(path.String(), "[]")
}

// findExcesses returns the values of an object that are too large. spec is a pointer to its spec.
func findExcesses(object *metav1.ObjectMeta, spec any) excesses {
	meta := metav1.ObjectMeta{
		Labels: object.Labels, Annotations: object.Annotations, OwnerReferences: object.OwnerReferences, Finalizers: object.Finalizers,
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
	visitFields(reflect.ValueOf(&meta), &lazyPath{root: field.NewPath("metadata")}, "", visit)
	visitFields(reflect.ValueOf(spec), &lazyPath{root: field.NewPath("spec")}, "", visit)
	return found
}

// lazyPath is the path of a field. It is cheap until build is called.
type lazyPath struct {
	// root is the path of a value without a parent.
	root   *field.Path
	parent *lazyPath
	// step is the JSON name of a field, or the key of a map in isKey; empty for the element of index.
	step  string
	index int
	isKey bool
}

func (p *lazyPath) build() *field.Path {
	switch {
	case p.parent == nil:
		return p.root
	case p.isKey:
		return p.parent.build().Key(p.step)
	case p.step == "":
		return p.parent.build().Index(p.index)
	default:
		return p.parent.build().Child(p.step)
	}
}

// leafTypes have no lists, maps or strings that a user sets.
var leafTypes = map[reflect.Type]bool{
	reflect.TypeFor[resource.Quantity](): true, reflect.TypeFor[metav1.Time](): true,
	reflect.TypeFor[[]metav1.ManagedFieldsEntry](): true,
}

// visitFields calls visit for the value at path and all values below it. key consists of the name of the type that has the value as
// a field, a dot, and the JSON name of the field. It is empty for an element of a list or a map.
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

// hasFields returns whether a value of the type can have values below it.
func hasFields(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return (t.Kind() == reflect.Struct || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && !leafTypes[t]
}

// structField is a field of a struct.
type structField struct {
	index int
	// name is its JSON name. It is empty for a field that JSON has inline.
	name string
	key  string
}

// fieldsByType are the fields of a box, a stack or a PodDebugger that have limits, or fields with limits below them, by type.
var fieldsByType = func() map[reflect.Type][]structField {
	known := map[reflect.Type][]structField{}
	addFields(reflect.TypeFor[model.ModelBoxSpec](), known)
	addFields(reflect.TypeFor[model.ModelStackSpec](), known)
	addFields(reflect.TypeFor[model.PodDebuggerSpec](), known)
	addFields(reflect.TypeFor[metav1.ObjectMeta](), known)
	return known
}()

func fieldsOf(t reflect.Type) []structField {
	fields, ok := fieldsByType[t]
	if !ok {
		panic(fmt.Sprintf("%v is not among the types that a box, a stack or a PodDebugger has", t))
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
		name := jsonname.Of(f)
		key := t.Name() + "." + name
		if _, isLimited := maxima[key]; !f.IsExported() || name == "-" || !hasFields(kind) && !isLimited {
			continue
		}
		addFields(f.Type, known)
		fields = append(fields, structField{index: i, name: name, key: key})
	}
	known[t] = fields
}

// validateJSONForm refuses a spec with a value that has no JSON form, which a client can send as protobuf. The storage would count the
// object as corrupt.
func validateJSONForm(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if found := jsonform.Find(spec); found != nil {
		return field.ErrorList{field.Invalid(path.Child(found.Path), field.OmitValueType{}, found.Detail)}
	}
	return nil
}
