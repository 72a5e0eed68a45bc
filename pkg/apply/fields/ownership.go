// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Apply takes a field out of a live object only if we own it and no other manager does. We lose the ownership when another manager
// changes a field, even if it is changed back. We share the ownership when another manager had set the field before us. These
// functions find that out and restore the ownership without touching the fields themselves.

// beforeFirstApply is the manager that the API makes up for everything that is in an object without managed fields
// when it is applied for the first time.
const beforeFirstApply = "before-first-apply"

// neverManaged are the fields of a render that no managed fields have.
var neverManaged = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"),
	fieldpath.MakePathOrDie("kind"),
	fieldpath.MakePathOrDie("metadata", "name"),
	fieldpath.MakePathOrDie("metadata", "namespace"),
)

// IsOurs returns whether an entry of managed fields is about what we apply.
func IsOurs(entry *metav1.ManagedFieldsEntry) bool {
	return entry.Manager == render.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
}

// Fingerprint identifies the set of fields of an object that we own. It is empty if we do not even own the annotation that says
// what was rendered: then any client may have written the annotation.
func Fingerprint(object metav1.Object) string {
	for i, entry := range object.GetManagedFields() {
		if !IsOurs(&object.GetManagedFields()[i]) || entry.FieldsV1 == nil {
			continue
		}
		switch fields := entry.FieldsV1.GetRawString(); {
		case strings.HasPrefix(fields, `"`):
			return strings.Trim(fields, `"`) // See KeepFingerprint.
		case strings.Contains(fields, `"f:`+modelv1.RenderHashAnnotation+`"`):
			return Digest(fields)
		}
	}
	return ""
}

// copyMargin is more than a request takes in which an object is created by applying it: its managed fields are a moment older
// than itself.
const copyMargin = time.Minute

// IsCopy returns whether we applied an object before it was created: it was created with the managed fields of another one, as
// a backup is restored.
func IsCopy(object metav1.Object) bool {
	created := object.GetCreationTimestamp()
	entries := object.GetManagedFields()
	return slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		return IsOurs(&entry) && entry.Time != nil && created.Sub(entry.Time.Time) > copyMargin
	})
}

// Owned returns the fields of an object that we own, none of one that we have not applied.
func Owned(object metav1.Object) (*fieldpath.Set, error) {
	for i := range object.GetManagedFields() {
		if entry := &object.GetManagedFields()[i]; IsOurs(entry) && entry.FieldsV1 != nil {
			return Decode(entry)
		}
	}
	return noFields(), nil
}

// Digest identifies the managed fields of an entry, or any other text.
func Digest(fields string) string {
	sum := sha256.Sum256([]byte(fields))
	return hex.EncodeToString(sum[:8])
}

// KeepFingerprint replaces the managed fields of an object, the largest part of it, by their fingerprint, with what makes it a
// copy.
func KeepFingerprint(object metav1.Object) {
	own := Fingerprint(object)
	var applied *metav1.Time
	if IsCopy(object) {
		applied = &metav1.Time{}
	}
	object.SetManagedFields(nil)
	if own == "" {
		return
	}
	fields := &metav1.FieldsV1{}
	fields.SetRawString(strconv.Quote(own))
	object.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: render.FieldManager, Operation: metav1.ManagedFieldsOperationApply, Time: applied, FieldsV1: fields,
	}})
}

// OwnedFields returns the fields that applying the render makes ours.
func (c *Comparer) OwnedFields(rendered *unstructured.Unstructured) (*fieldpath.Set, error) {
	want, err := c.converter.ObjectToTyped(rendered)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the rendered %s: %w", rendered.GetKind(), err)
	}
	fields, err := want.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("listing the fields of the rendered %s: %w", rendered.GetKind(), err)
	}
	return fields.Difference(neverManaged), nil
}

// OwnedFingerprint is the fingerprint of an object after the render was applied.
func (c *Comparer) OwnedFingerprint(rendered *unstructured.Unstructured) (string, error) {
	owned, err := c.OwnedFields(rendered)
	if err != nil {
		return "", err
	}
	fields, err := owned.ToJSON()
	if err != nil {
		return "", fmt.Errorf("encoding the fields of the rendered %s: %w", rendered.GetKind(), err)
	}
	return Digest(string(fields)), nil
}

// withNames adds to fields of a kind the structs and maps that they are in, which managers other than appliers own as
// well.
func (c *Comparer) withNames(of *unstructured.Unstructured, fields *fieldpath.Set) (*fieldpath.Set, error) {
	want, err := c.converter.ObjectToTyped(of)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the rendered %s: %w", of.GetKind(), err)
	}
	return fields.EnsureNamedFieldsAreMembers(want.Schema(), want.TypeRef()), nil
}

// liveTyped returns the live object with its schema. The API keeps elements of a list that are there twice, and so may it.
func (c *Comparer) liveTyped(live Object) (*typed.TypedValue, error) {
	have, err := c.converter.ObjectToTyped(live, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s: %w", live.GetName(), err)
	}
	return have, nil
}

// LiveFields returns all fields of the live object, with the structs and maps that they are in.
func (c *Comparer) LiveFields(live Object) (*fieldpath.Set, error) {
	have, err := c.liveTyped(live)
	if err != nil {
		return nil, err
	}
	fields, err := have.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("listing the fields of %s: %w", live.GetName(), err)
	}
	return fields.EnsureNamedFieldsAreMembers(have.Schema(), have.TypeRef()), nil
}

// Claim returns the managed fields of a live object as they are once we own the fields in own, beside no manager but other
// appliers, and the fields in exclusive beside no manager at all. The second result is false if we own them so already.
func (c *Comparer) Claim(live Object, rendered *unstructured.Unstructured, own, exclusive *fieldpath.Set) ([]metav1.ManagedFieldsEntry, bool, error) {
	named, err := c.withNames(rendered, own)
	if err != nil {
		return nil, false, err
	}
	var claimed []metav1.ManagedFieldsEntry
	isChanged, isOwner := false, false
	for _, entry := range live.GetManagedFields() {
		if entry.FieldsV1 == nil || entry.Subresource != "" {
			claimed = append(claimed, entry)
			continue
		}
		before, err := Decode(&entry)
		if err != nil {
			return nil, false, err
		}
		after := before
		switch {
		case IsOurs(&entry):
			isOwner = true
			after = before.Union(own).Union(exclusive)
		case entry.Manager == beforeFirstApply:
			after = noFields()
		case entry.Operation == metav1.ManagedFieldsOperationUpdate:
			after = before.Difference(named).Difference(exclusive)
		default:
			after = before.Difference(exclusive)
		}
		if after.Equals(before) {
			claimed = append(claimed, entry)
			continue
		}
		isChanged = true
		if after.Empty() {
			continue
		}
		if entry.FieldsV1, err = Encode(after); err != nil {
			return nil, false, err
		}
		claimed = append(claimed, entry)
	}
	if isOwner {
		return claimed, isChanged, nil
	}
	fields, err := Encode(own.Union(exclusive))
	if err != nil {
		return nil, false, err
	}
	return append(claimed, metav1.ManagedFieldsEntry{
		Manager:    render.FieldManager,
		Operation:  metav1.ManagedFieldsOperationApply,
		APIVersion: rendered.GetAPIVersion(),
		FieldsType: "FieldsV1",
		FieldsV1:   fields,
	}), true, nil
}

// ManagedFieldsPatch is a JSON patch that replaces the managed fields of exactly this version of an object, or adds them if another
// client has cleared them.
func ManagedFieldsPatch(live metav1.Object, managedFields []metav1.ManagedFieldsEntry) ([]byte, error) {
	return json.Marshal([]map[string]any{
		{"op": "add", "path": "/metadata/managedFields", "value": managedFields},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
	})
}

// Decode returns the fields of an entry that has some.
func Decode(entry *metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	fields := &fieldpath.Set{}
	if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return nil, fmt.Errorf("reading the fields of manager %s: %w", entry.Manager, err)
	}
	return fields, nil
}

// Encode returns the fields as an entry of managed fields has them.
func Encode(set *fieldpath.Set) (*metav1.FieldsV1, error) {
	data, err := set.ToJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding managed fields: %w", err)
	}
	fields := &metav1.FieldsV1{}
	fields.SetRawBytes(data)
	return fields, nil
}

// Below returns the fields of a set that are at one of the paths, or below it, the paths themselves included.
func Below(set, paths *fieldpath.Set) *fieldpath.Set {
	found := fieldpath.NewSet()
	paths.Iterate(func(path fieldpath.Path) {
		found.Insert(path.Copy())
		inside := set
		for _, step := range path {
			inside = inside.WithPrefix(step)
		}
		inside.Iterate(func(rest fieldpath.Path) { found.Insert(slices.Concat(path, rest)) })
	})
	return found
}

// NotApplied returns the fields that no applier but us has. A field that another manager applies is meant to be there.
func NotApplied(live metav1.Object, fields *fieldpath.Set) (*fieldpath.Set, error) {
	for i := range live.GetManagedFields() {
		entry := &live.GetManagedFields()[i]
		if entry.Operation != metav1.ManagedFieldsOperationApply || IsOurs(entry) || entry.FieldsV1 == nil {
			continue
		}
		applied, err := Decode(entry)
		if err != nil {
			return nil, err
		}
		fields = fields.Difference(applied)
	}
	return fields, nil
}

func noFields() *fieldpath.Set { return fieldpath.NewSet() }
