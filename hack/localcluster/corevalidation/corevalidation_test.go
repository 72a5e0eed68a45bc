// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corevalidation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// corpus returns the valid objects that are changed, by name.
func corpus(t testing.TB) map[string]any {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no objects in testdata: %v", err)
	}
	objects := map[string]any{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(data, &kind); err != nil {
			t.Fatal(err)
		}
		object := map[string]any{
			"PodTemplate": &corev1.PodTemplate{}, "Service": &corev1.Service{}, "HorizontalPodAutoscaler": &autoscalingv2.HorizontalPodAutoscaler{},
			"NetworkPolicy": &networkingv1.NetworkPolicy{},
		}[kind.Kind]
		if err := yaml.UnmarshalStrict(data, object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		objects[filepath.Base(file)] = object
	}
	return objects
}

// changesOf are the changes of what of an object is validated.
func changesOf(object any, values map[reflect.Type][]reflect.Value) []change {
	if template, ok := object.(*corev1.PodTemplate); ok {
		return changes(&template.Template, values)
	}
	if autoscaler, ok := object.(*autoscalingv2.HorizontalPodAutoscaler); ok {
		return changesOfAutoscaler(&autoscaler.Spec, values)
	}
	if policy, ok := object.(*networkingv1.NetworkPolicy); ok {
		return changesOfNetworkPolicy(&policy.Spec, values)
	}
	service := object.(*corev1.Service)
	spec := &service.Spec
	var all []change
	// The others are addresses, which a cluster gives, and an alias, which selects no pods.
	for _, part := range []any{
		&service.Annotations, &spec.Type, &spec.Ports, &spec.Selector, &spec.SessionAffinity, &spec.SessionAffinityConfig,
		&spec.ExternalTrafficPolicy, &spec.InternalTrafficPolicy, &spec.HealthCheckNodePort, &spec.LoadBalancerClass,
		&spec.LoadBalancerSourceRanges, &spec.AllocateLoadBalancerNodePorts, &spec.IPFamilies, &spec.IPFamilyPolicy,
		&spec.TrafficDistribution, &spec.PublishNotReadyAddresses,
	} {
		all = append(all, changes(part, values)...)
	}
	return all
}

// changesOfAutoscaler leave alone what is scaled, which is the box.
func changesOfAutoscaler(spec *autoscalingv2.HorizontalPodAutoscalerSpec, values map[reflect.Type][]reflect.Value) []change {
	var all []change
	for _, part := range []any{&spec.MinReplicas, &spec.MaxReplicas, &spec.Metrics, &spec.Behavior} {
		all = append(all, changes(part, values)...)
	}
	return all
}

// changesOfNetworkPolicy leave alone the selector of the pods, which are the pods of the box.
func changesOfNetworkPolicy(spec *networkingv1.NetworkPolicySpec, values map[reflect.Type][]reflect.Value) []change {
	var all []change
	for _, part := range []any{&spec.PolicyTypes, &spec.Ingress, &spec.Egress} {
		all = append(all, changes(part, values)...)
	}
	return all
}

// valuesByType are the values of the enumerations that the corpus has.
func valuesByType(objects map[string]any) map[reflect.Type][]reflect.Value {
	found := map[reflect.Type][]reflect.Value{}
	var collect func(reflect.Value)
	collect = func(value reflect.Value) {
		switch value.Kind() {
		case reflect.String:
			isKnown := func(other reflect.Value) bool { return other.String() == value.String() }
			if known := found[value.Type()]; value.Type() != reflect.TypeFor[string]() && !slices.ContainsFunc(known, isKnown) {
				found[value.Type()] = append(known, value)
			}
		case reflect.Pointer:
			if !value.IsNil() {
				collect(value.Elem())
			}
		case reflect.Struct:
			for i := range value.NumField() {
				if value.Type().Field(i).IsExported() {
					collect(value.Field(i))
				}
			}
		case reflect.Slice:
			for i := range value.Len() {
				collect(value.Index(i))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		copied := reflect.New(reflect.TypeOf(objects[name]).Elem())
		data, _ := json.Marshal(objects[name])       // the corpus was read from JSON
		_ = json.Unmarshal(data, copied.Interface()) // and so can be read again
		collect(copied.Elem())
	}
	return found
}

var (
	listIndex = regexp.MustCompile(`\[[0-9]+\]`)
	quoted    = regexp.MustCompile(`"(\\.|[^"\\])*"|-?[0-9]+`)
)

// comparer compares what both sets of rules say of objects.
type comparer struct {
	restated *restated
	// occurred are how often each of the wanted differences was seen.
	occurred []int
}

// compare returns the differences that are not wanted: what one side refuses in a place where the other one refuses
// nothing.
func (c *comparer) compare(object any) ([]string, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	ours, err := c.restated.validate(data)
	if err != nil {
		return nil, err
	}
	theirs, err := validateByKubernetes(data)
	if err != nil {
		return nil, err
	}
	return slices.Concat(c.unwanted(onlyRestated, ours, theirs), c.unwanted(onlyKubernetes, theirs, ours)), nil
}

func (c *comparer) unwanted(s side, refused, others refusals) []string {
	var unwanted []string
	for _, path := range slices.Sorted(maps.Keys(refused)) {
		anyElement := listIndex.ReplaceAllString(path, "")
		if !others.about(anyElement) && !c.isWanted(s, anyElement, refused[path], len(others) > 0) {
			unwanted = append(unwanted, fmt.Sprintf("%s: %s: %s", s, path, refused[path]))
		}
	}
	return unwanted
}

// about returns whether the field at path, one below it or the one that it is in is refused, in any element of its lists.
// Which of them an error is about may differ: an element, or the list that has it.
func (r refusals) about(path string) bool {
	for other := range r {
		other = listIndex.ReplaceAllString(other, "")
		if within(path, other) || within(other, path) {
			return true
		}
	}
	return false
}

func within(path, parent string) bool {
	rest, below := strings.CutPrefix(path, parent)
	return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (c *comparer) isWanted(s side, field, message string, bothRefuse bool) bool {
	for i := range wanted {
		if wanted[i].matches(s, field, message, bothRefuse) {
			c.occurred[i]++
			return true
		}
	}
	return false
}

// everyStrange says which of the strange texts the test tries: every so many. The fuzz target tries them all.
const everyStrange = 6

// TestRestatedRulesAreThoseOfKubernetes changes each field of the objects in testdata, and asks both.
func TestRestatedRulesAreThoseOfKubernetes(t *testing.T) {
	objects := corpus(t)
	values := valuesByType(objects)
	c := &comparer{startRestated(t), make([]int, len(wanted))}
	seen, count := map[string]bool{}, 0
	check := func(name, change string, object any) {
		count++
		unwanted, err := c.compare(object)
		if err != nil {
			t.Fatalf("%s, %s: %v", name, change, err)
		}
		for _, difference := range unwanted {
			if kind := quoted.ReplaceAllString(listIndex.ReplaceAllString(difference, ""), ""); !seen[kind] {
				seen[kind] = true
				t.Errorf("%s, %s: %s", name, change, difference)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		object := objects[name]
		check(name, "unchanged", object)
		for i, change := range changesOf(object, values) {
			if change.isStrange && i%everyStrange > 0 {
				continue
			}
			undo := change.make()
			check(name, change.path, object)
			undo()
		}
	}
	t.Logf("%d objects", count)
	for i, times := range c.occurred {
		if times == 0 {
			t.Errorf("never %s: %v: %v", wanted[i].side, wanted[i].field, wanted[i].message)
		}
	}
}

// What is compared has to be the same version.
func TestRestatedVersion(t *testing.T) {
	restated, err := exec.Command(buildRestated(t), "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	if version := strings.TrimSpace(string(restated)); !strings.HasPrefix(string(linked), "v"+version+".") {
		t.Errorf("compared the rules of Kubernetes %s with the rules of %s", version, linked)
	}
}

// FuzzRestatedRulesAreThoseOfKubernetes makes several changes at once.
func FuzzRestatedRulesAreThoseOfKubernetes(f *testing.F) {
	objects := corpus(f)
	names, values := slices.Sorted(maps.Keys(objects)), valuesByType(objects)
	c := &comparer{startRestated(f), make([]int, len(wanted))}
	f.Add(int64(1), uint8(2))
	f.Fuzz(func(t *testing.T, seed int64, count uint8) {
		random := rand.New(rand.NewSource(seed))
		name := names[random.Intn(len(names))]
		var made []string
		for range count%4 + 1 {
			// What is changed already may have other fields.
			possible := changesOf(objects[name], values)
			change := possible[random.Intn(len(possible))]
			made = append(made, change.path)
			defer change.make()()
		}
		unwanted, err := c.compare(objects[name])
		if err != nil {
			t.Fatal(err)
		}
		for _, difference := range unwanted {
			t.Errorf("%s, %q: %s", name, made, difference)
		}
	})
}
