// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smdvalue "sigs.k8s.io/structured-merge-diff/v6/value"
)

// fieldEdit is a change of one field of a child. The patches after the first have other values, in case the API refuses the former
// patch.
type fieldEdit struct {
	name      string
	patchType types.PatchType
	patches   []string
}

// fieldEditor creates edits of the fields of a child that the server owns.
type fieldEditor struct {
	t     *testing.T
	live  map[string]any
	edits []fieldEdit
}

// fieldEdits returns every edit of every field of the child that the server owns, in an order that only depends on the fields.
func fieldEdits(t *testing.T, live *unstructured.Unstructured) []fieldEdit {
	t.Helper()
	owned := ownedByServer(t, live)
	e := &fieldEditor{t: t, live: live.Object}
	elements := map[string]fieldpath.Path{}
	owned.Iterate(func(path fieldpath.Path) {
		if path[len(path)-1].Key != nil {
			elements[path.String()] = path.Copy()
		}
	})
	var leaves []fieldpath.Path
	owned.Leaves().Iterate(func(path fieldpath.Path) { leaves = append(leaves, path.Copy()) })
	for _, path := range leaves {
		if path[len(path)-1].FieldName != nil && !isKeyOf(path) {
			e.editLeaf(path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(elements)) {
		e.editElement(elements[name])
	}
	e.switchUnions("", live.Object)
	return e.edits
}

// ownedByServer returns the fields that the server applied.
func ownedByServer(t *testing.T, live *unstructured.Unstructured) *fieldpath.Set {
	t.Helper()
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == "modelbox-apiserver" && entry.Operation == "Apply" {
			owned := &fieldpath.Set{}
			if err := owned.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
				t.Fatal(err)
			}
			return owned
		}
	}
	t.Fatalf("nothing of %s %s is the server's", live.GetKind(), live.GetName())
	return nil
}

// isKeyOf returns whether the path is the path of a merge key of its element.
func isKeyOf(path fieldpath.Path) bool {
	if len(path) < 2 || path[len(path)-2].Key == nil {
		return false
	}
	return slices.ContainsFunc(*path[len(path)-2].Key, func(key smdvalue.Field) bool { return key.Name == *path[len(path)-1].FieldName })
}

func (e *fieldEditor) add(name string, patchType types.PatchType, patches ...string) {
	e.edits = append(e.edits, fieldEdit{name, patchType, patches})
}

// editLeaf changes a field in every way, and removes it.
func (e *fieldEditor) editLeaf(path fieldpath.Path) {
	pointer, value := e.find(path)
	var json6902, merge, strategic, apply []string
	for _, other := range otherValues(*path[len(path)-1].FieldName, value) {
		json6902 = append(json6902, jsonPatch("replace", pointer, other))
		merge = append(merge, e.mergePatch(path, other))
		strategic = append(strategic, e.nested(path, other, false))
		apply = append(apply, e.nested(path, other, true))
	}
	name := path.String()
	if len(json6902) > 0 {
		e.add("changed by JSON patch: "+name, types.JSONPatchType, json6902...)
		e.add("changed by merge patch: "+name, types.MergePatchType, merge...)
		e.add("changed by strategic merge patch: "+name, types.StrategicMergePatchType, strategic...)
		e.add("changed by apply: "+name, types.ApplyPatchType, apply...)
	}
	e.add("removed: "+name, types.JSONPatchType, jsonPatch("remove", pointer, nil))
}

// editElement doubles, moves, renames and removes an element of a list.
func (e *fieldEditor) editElement(path fieldpath.Path) {
	pointer, value := e.find(path)
	list, index := pointer[:strings.LastIndex(pointer, "/")], pointer[strings.LastIndex(pointer, "/")+1:]
	element, name := value.(map[string]any), path.String()
	e.add("removed: "+name, types.JSONPatchType, jsonPatch("remove", pointer, nil))

	keys := map[string]bool{}
	for _, key := range *path[len(path)-1].Key {
		keys[key.Name] = true
		if key.Name == "uid" {
			continue // the garbage collector may be faster, and deletes a child whose owner does not exist
		}
		var renamed []string
		for _, other := range otherValues(key.Name, key.Value.Unstructured()) {
			renamed = append(renamed, jsonPatch("replace", pointer+"/"+key.Name, other))
		}
		e.add("renamed "+key.Name+": "+name, types.JSONPatchType, renamed...)
	}
	double := runtime.DeepCopyJSON(element)
	for _, field := range slices.Sorted(maps.Keys(double)) {
		if others := otherValues(field, double[field]); !keys[field] && len(others) > 0 {
			double[field] = others[0]
			break
		}
	}
	e.add("doubled: "+name, types.JSONPatchType, jsonPatch("add", list+"/-", double))
	if index != "0" {
		e.add("moved to the front: "+name, types.JSONPatchType,
			fmt.Sprintf(`[{"op": "move", "from": %q, "path": %q}]`, pointer, list+"/0"))
	}
}

// unionMembers are the other members of unions, by the names of the unions.
var unionMembers = map[string][]string{
	"readinessProbe":  {`{"exec": {"command": ["evil"]}}`, `{"httpGet": {"path": "/evil", "port": 1}}`},
	"livenessProbe":   {`{"exec": {"command": ["evil"]}}`, `{"httpGet": {"path": "/evil", "port": 1}}`},
	"startupProbe":    {`{"tcpSocket": {"port": 1}}`, `{"grpc": {"port": 1}}`},
	"preStop":         {`{"exec": {"command": ["evil"]}}`, `{"sleep": {"seconds": 1}}`},
	"postStart":       {`{"httpGet": {"path": "/evil", "port": 1}}`, `{"sleep": {"seconds": 1}}`},
	"valueFrom":       {`{"fieldRef": {"fieldPath": "metadata.uid"}}`, `{"secretKeyRef": {"name": "evil", "key": "evil"}}`},
	"strategy":        {`{"type": "Recreate"}`},
	"seccompProfile":  {`{"type": "Unconfined"}`, `{"type": "Localhost", "localhostProfile": "evil.json"}`},
	"appArmorProfile": {`{"type": "Unconfined"}`, `{"type": "Localhost", "localhostProfile": "evil"}`},
}

// switchUnions changes the member of every union.
func (e *fieldEditor) switchUnions(pointer string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			inside := pointer + "/" + escape(name)
			for _, member := range unionMembers[name] {
				e.add("switched to "+member+": "+inside, types.JSONPatchType, jsonPatch("replace", inside, json.RawMessage(member)))
			}
			switch {
			case inside == "/metadata" || inside == "/status":
			case name == "env":
				e.switchElements(inside, value[name], `"valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}`, `"value": "evil"`)
			case name == "volumes":
				e.switchElements(inside, value[name], `"hostPath": {"path": "/evil"}`, `"emptyDir": {}`)
				e.switchUnions(inside, value[name])
			default:
				e.switchUnions(inside, value[name])
			}
		}
	case []any:
		for i, element := range value {
			e.switchUnions(fmt.Sprintf("%s/%d", pointer, i), element)
		}
	}
}

// switchElements changes the member of every element of a list of unions with names.
func (e *fieldEditor) switchElements(pointer string, list any, members ...string) {
	elements, _ := list.([]any)
	for i, element := range elements {
		name := element.(map[string]any)["name"]
		for _, member := range members {
			other := json.RawMessage(fmt.Sprintf(`{"name": %q, %s}`, name, member))
			at := fmt.Sprintf("%s/%d", pointer, i)
			e.add(fmt.Sprintf("switched to %s: %s (%s)", member, at, name), types.JSONPatchType, jsonPatch("replace", at, other))
		}
	}
}

// find returns the JSON pointer of a path, and its value.
func (e *fieldEditor) find(path fieldpath.Path) (string, any) {
	var pointer strings.Builder
	var value any = e.live
	for _, step := range path {
		switch at := value.(type) {
		case map[string]any:
			pointer.WriteString("/" + escape(*step.FieldName))
			value = at[*step.FieldName]
		case []any:
			i := indexOf(at, step)
			if i < 0 {
				e.t.Fatalf("there is no %s", path)
			}
			fmt.Fprintf(&pointer, "/%d", i)
			value = at[i]
		default:
			e.t.Fatalf("there is no %s", path)
		}
	}
	return pointer.String(), value
}

func indexOf(list []any, step fieldpath.PathElement) int {
	return slices.IndexFunc(list, func(element any) bool {
		fields, isMap := element.(map[string]any)
		if !isMap {
			return step.Value != nil && fmt.Sprint(element) == fmt.Sprint((*step.Value).Unstructured())
		}
		return !slices.ContainsFunc(*step.Key, func(key smdvalue.Field) bool {
			return fmt.Sprint(fields[key.Name]) != fmt.Sprint(key.Value.Unstructured())
		})
	})
}

// nested returns a patch that merges lists by their keys and sets the field. For server-side apply, it has the type and name of the
// object.
func (e *fieldEditor) nested(path fieldpath.Path, value any, isApplied bool) string {
	for _, step := range slices.Backward(path) {
		switch {
		case step.FieldName != nil:
			value = map[string]any{*step.FieldName: value}
		case step.Key != nil:
			element, _ := value.(map[string]any)
			for _, key := range *step.Key {
				element[key.Name] = key.Value.Unstructured()
			}
			value = []any{element}
		default:
			value = []any{value}
		}
	}
	object := value.(map[string]any)
	if isApplied {
		object["apiVersion"], object["kind"] = e.live["apiVersion"], e.live["kind"]
	}
	return encode(e.t, object)
}

// mergePatch returns a merge patch that sets the field, with its complete outermost list.
func (e *fieldEditor) mergePatch(path fieldpath.Path, value any) string {
	changed := runtime.DeepCopyJSON(e.live)
	var at any = changed
	outer := len(path)
	for i, step := range path[:len(path)-1] {
		switch inside := at.(type) {
		case map[string]any:
			at = inside[*step.FieldName]
		case []any:
			outer = min(outer, i)
			at = inside[indexOf(inside, step)]
		}
	}
	at.(map[string]any)[*path[len(path)-1].FieldName] = value

	var patch any = changed
	for _, step := range path[:outer] {
		patch = patch.(map[string]any)[*step.FieldName]
	}
	for _, step := range slices.Backward(path[:outer]) {
		patch = map[string]any{*step.FieldName: patch}
	}
	return encode(e.t, patch)
}

// choices are the valid values of fields with an enumeration.
var choices = map[string][]any{
	"dnsPolicy":                {"ClusterFirst", "Default"},
	"effect":                   {"NoExecute"},
	"fsGroupChangePolicy":      {"Always"},
	"imagePullPolicy":          {"Never", "IfNotPresent"},
	"medium":                   {""},
	"mountPropagation":         {"HostToContainer"},
	"name":                     {},
	"port":                     {int64(8), "evil"},
	"preemptionPolicy":         {"Never"},
	"procMount":                {"Unmasked"},
	"protocol":                 {"TCP", "UDP", "SCTP"},
	"restartPolicy":            {"OnFailure"},
	"scheme":                   {"HTTP"},
	"targetPort":               {int64(7), "evil"},
	"terminationMessagePolicy": {"File"},
	"type":                     {"LoadBalancer", "ClusterIP", "NodePort", "Recreate", "File"},
	"whenUnsatisfiable":        {"DoNotSchedule"},
	"maxSurge":                 {int64(1), "70%"},
	"maxUnavailable":           {int64(1), "70%"},
	"divisor":                  {"1"},
	"fieldPath":                {"metadata.uid"},
	"resource":                 {"requests.cpu"},
	"serviceAccount":           {"evil"},
	"selectPolicy":             {"Disabled"},
	"selector":                 {map[string]any{"matchLabels": map[string]any{"modelbox": "evil"}}},
}

var number = regexp.MustCompile(`^\d+`)

// otherValues returns other values of the field. Values that the API most likely accepts come first.
func otherValues(field string, value any) []any {
	var others []any
	switch value := value.(type) {
	case string:
		if digits := number.FindString(value); digits != "" {
			n, _ := strconv.Atoi(digits)
			others = append(others, strconv.Itoa(n+1)+value[len(digits):])
		}
		others = append(others, value+"x")
	case int64:
		others = append(others, value+1, value-1)
	case bool:
		others = append(others, !value)
	case []any:
		others = append(others, append(slices.Clone(value), "evil"))
		if len(value) > 1 {
			others = append(others, value[:1])
		}
	case map[string]any:
		evil := maps.Clone(value)
		evil["evil"] = "evil"
		others = append(others, evil)
	}
	for _, other := range choices[field] {
		if !reflect.DeepEqual(other, value) {
			others = append(others, other)
		}
	}
	return others
}

func jsonPatch(op, pointer string, value any) string {
	patch := map[string]any{"op": op, "path": pointer}
	if op != "remove" {
		patch["value"] = value
	}
	data, err := json.Marshal([]any{patch})
	if err != nil {
		panic(err) // the value was decoded from JSON
	}
	return string(data)
}

func encode(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// escape escapes a name for a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
