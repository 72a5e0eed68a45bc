// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// Ratchet returns the errors of an object, at path, for which its update is refused. It leaves out an error if the old object has
// an error of the same type in the same place, and if the value there did not change. It compares places by the keys of lists,
// because elements can move.
//
// object and old are pointers to structs of the served API, whose tags have the names and the keys, or lists.
func Ratchet(path *field.Path, object, old any, errs, oldErrs field.ErrorList) field.ErrorList {
	if len(errs) == 0 || len(oldErrs) == 0 {
		return errs
	}
	known := sets.New[fieldError]()
	for _, err := range oldErrs {
		known.Insert(fieldError{err.Type, err.Field})
	}
	// An object with so many errors may have more errors than were found.
	isComplete := len(oldErrs) < validate.MaxErrors
	return slices.DeleteFunc(slices.Clone(errs), func(err *field.Error) bool {
		place, ok := correlate(path, object, old, err.Field)
		return ok && place.isUnchanged() && (!isComplete || known.Has(fieldError{err.Type, place.oldPath()}))
	})
}

// fieldError is equal for errors of the same type of the same field.
type fieldError struct {
	kind field.ErrorType
	path string
}

// place is a value of an object, and the value in the same place of the old object. A value that is missing is not valid.
type place struct {
	value, old reflect.Value
	// mergeKey is the JSON name of the key of a list, if it has one.
	mergeKey string
	// path is the path of the old value. rest is the end of the path of the error for which there is no value.
	path *field.Path
	rest string
}

// correlate finds the value at a path of the object, which is at root, and its old value. It returns false if the value is in a new
// element of a list, so that there is no old value.
func correlate(root *field.Path, object, old any, path string) (place, bool) {
	p := place{value: reflect.ValueOf(object), old: reflect.ValueOf(old), path: root}
	rest, inRoot := strings.CutPrefix(path, root.String())
	if !inRoot {
		return place{}, false
	}
	for p.rest = rest; p.rest != ""; {
		p.value, p.old = indirect(p.value), indirect(p.old)
		if !p.value.IsValid() {
			break
		}
		correlated, isStep := false, false
		switch p.value.Kind() {
		case reflect.Struct:
			correlated, isStep = p.stepIntoField()
		case reflect.Slice:
			correlated, isStep = p.stepIntoElement()
		case reflect.Map:
			correlated, isStep = p.stepIntoKey()
		}
		if !isStep {
			break
		}
		if !correlated {
			return place{}, false
		}
	}
	return p, true
}

func (p *place) isUnchanged() bool {
	value, old := indirect(p.value), indirect(p.old)
	if !value.IsValid() || !old.IsValid() {
		return value.IsValid() == old.IsValid()
	}
	return apiequality.Semantic.DeepEqual(value.Interface(), old.Interface())
}

func (p *place) oldPath() string {
	return p.path.String() + p.rest
}

// stepIntoField takes the name of a field from the path.
func (p *place) stepIntoField() (correlated, isStep bool) {
	name, found := strings.CutPrefix(p.rest, ".")
	if !found {
		return false, false
	}
	if end := strings.IndexAny(name, ".["); end >= 0 {
		name = name[:end]
	}
	f, found := fieldByJSONName(p.value.Type(), name)
	if !found {
		return false, false
	}
	p.value = p.value.FieldByIndex(f.Index)
	if p.old.IsValid() {
		p.old = p.old.FieldByIndex(f.Index)
	}
	p.mergeKey = f.Tag.Get("patchMergeKey")
	p.path, p.rest = p.path.Child(name), p.rest[len(".")+len(name):]
	return true, true
}

// stepIntoElement takes the index of an element from the path.
func (p *place) stepIntoElement() (correlated, isStep bool) {
	text, rest, found := strings.Cut(strings.TrimPrefix(p.rest, "["), "]")
	index, err := strconv.Atoi(text)
	if !found || err != nil || index < 0 || index >= p.value.Len() {
		return false, false
	}
	oldIndex := p.correlatedIndex(index)
	if oldIndex < 0 {
		return false, true
	}
	p.value, p.old = p.value.Index(index), p.old.Index(oldIndex)
	p.path, p.rest = p.path.Index(oldIndex), rest
	return true, true
}

// stepIntoKey takes the key of an element of a map from the path. It compares with the keys of the map, because a key can have any
// characters.
func (p *place) stepIntoKey() (correlated, isStep bool) {
	for _, key := range p.value.MapKeys() {
		rest, found := strings.CutPrefix(p.rest, "["+key.String()+"]")
		if !found {
			continue
		}
		p.value = p.value.MapIndex(key)
		if p.old.IsValid() {
			p.old = p.old.MapIndex(key)
		}
		p.path, p.rest = p.path.Key(key.String()), rest
		return true, true
	}
	return false, false
}

// correlatedIndex returns the index in the old list of the element that is now at index, -1 for none. In a list with keys, elements
// with the same key are correlated. In other lists, equal elements are correlated. Several such elements are correlated in their
// order.
func (p *place) correlatedIndex(index int) int {
	if !p.old.IsValid() {
		return -1
	}
	element := p.value.Index(index)
	isSame := func(other reflect.Value) bool { return p.isSameElement(element, other) }
	before := 0
	for i := range index {
		if isSame(p.value.Index(i)) {
			before++
		}
	}
	for i := range p.old.Len() {
		if !isSame(p.old.Index(i)) {
			continue
		}
		if before == 0 {
			return i
		}
		before--
	}
	return -1
}

func (p *place) isSameElement(element, other reflect.Value) bool {
	if p.mergeKey != "" && element.Kind() == reflect.Struct {
		if f, found := fieldByJSONName(element.Type(), p.mergeKey); found {
			return element.FieldByIndex(f.Index).Equal(other.FieldByIndex(f.Index))
		}
	}
	return apiequality.Semantic.DeepEqual(element.Interface(), other.Interface())
}

// indirect returns what a value points to, and no valid value for nil.
func indirect(value reflect.Value) reflect.Value {
	for value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	return value
}

// fieldByJSONName returns the field of a struct, or of a struct inlined in it, that has the name in JSON.
func fieldByJSONName(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name && name != "" {
			return f, true
		}
		if tag != "" || f.Type.Kind() != reflect.Struct {
			continue
		}
		if inner, found := fieldByJSONName(f.Type, name); found {
			inner.Index = append(slices.Clip(f.Index), inner.Index...)
			return inner, true
		}
	}
	return reflect.StructField{}, false
}

// validateDeclared runs the code that is generated from the validation tags of the served type. For an update of old, it validates
// the fields that change only.
//
// The generic server would run that code for a strategy that embeds rest.DeclarativeValidation. It would also log a difference for
// each error of ValidateObjectMeta and ValidateConditions that is marked as declared by a tag of meta/v1, because the code that is
// generated from those tags is not available outside Kubernetes.
func validateDeclared[Internal, Served any](
	ctx context.Context, value, old *Internal,
	convert func(*Internal, *Served, conversion.Scope) error,
	validate func(context.Context, operation.Operation, *field.Path, *Served, *Served) field.ErrorList,
	path *field.Path,
) field.ErrorList {
	var served, servedOld Served
	if err := convert(value, &served, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	if old == nil {
		return validate(ctx, operation.Operation{Type: operation.Create}, path, &served, nil)
	}
	if err := convert(old, &servedOld, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return validate(ctx, operation.Operation{Type: operation.Update}, path, &served, &servedOld)
}
