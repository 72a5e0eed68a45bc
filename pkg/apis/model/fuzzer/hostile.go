// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fuzzer

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// HostileBox is a box that is made to cost its server much.
type HostileBox struct {
	// Name says what there is much of, and how it is.
	Name string
	Spec modelv1.ModelBoxSpec
}

// HostileBoxes yields boxes whose specs are of about the given size, in bytes of protobuf. There is one for each list,
// map and string of each type that a box can have in each of some forms, in the overlay and outside, and one for each pair
// of lists that rules compare.
func HostileBoxes(size int) iter.Seq[HostileBox] {
	return func(yield func(HostileBox) bool) {
		for _, box := range crossReferences(size) {
			if !yield(box) {
				return
			}
		}
		spec := reflect.TypeFor[modelv1.ModelBoxSpec]()
		overlay, _ := spec.FieldByName(overlayField)
		places := placesOf(spec, 0, []string{overlayField}, map[string]bool{})
		// These are the same in the overlay, and strings are as well.
		skipped := []string{"Volumes", "InitContainers", "EphemeralContainers"}
		for _, below := range placesOf(overlay.Type, 0, skipped, map[string]bool{}) {
			if below.kind != reflect.String {
				places = append(places, place{append(slices.Clone(overlay.Index), below.steps...), overlayField + "." + below.name, below.kind, below.lists})
			}
		}
		for _, place := range places {
			for _, form := range place.forms() {
				if !yield(place.box(form, size)) {
					return
				}
			}
		}
	}
}

const overlayField = "PodTemplate"

// OrdinaryBox returns a box of about the given size that has nothing remarkable but that.
func OrdinaryBox(size int) modelv1.ModelBoxSpec {
	spec := smallSpec()
	spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}}}
	for c := range 32 {
		container := corev1.Container{Name: fmt.Sprintf("side-%d", c), Image: "side:1"}
		for i := range size / 32 / 40 {
			container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%05d", i), Value: "a value of it"})
		}
		spec.Containers = append(spec.Containers, container)
	}
	return spec
}

func smallSpec() modelv1.ModelBoxSpec {
	return modelv1.ModelBoxSpec{Image: "nginx:1.7.9", Ports: []corev1.ServicePort{{Port: 80}}}
}

// place is a field of a box, by the indexes of the struct fields that lead to it. Lists on the way have elements.
type place struct {
	steps []int
	name  string
	kind  reflect.Kind
	// lists is how many lists are on the way.
	lists int
}

// placesOf returns the lists, maps and strings below a type, without the fields to skip, and with each field of each type once.
func placesOf(t reflect.Type, lists int, skip []string, seen map[string]bool) []place {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			lists++
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[resource.Quantity]() || t == reflect.TypeFor[metav1.Time]() || t == reflect.TypeFor[metav1.FieldsV1]() {
		return nil
	}
	var places []place
	for i := range t.NumField() {
		f := t.Field(i)
		key := t.Name() + "." + f.Name
		if !f.IsExported() || slices.Contains(skip, f.Name) || seen[key] {
			continue
		}
		seen[key] = true
		kind := f.Type
		for kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.Slice || kind.Kind() == reflect.Map || kind.Kind() == reflect.String {
			places = append(places, place{[]int{i}, f.Name, kind.Kind(), lists})
		}
		for _, below := range placesOf(f.Type, lists, skip, seen) {
			places = append(places, place{append([]int{i}, below.steps...), f.Name + "." + below.name, below.kind, below.lists})
		}
	}
	return places
}

// form is how a place is filled.
type form struct {
	name string
	// text returns the text of all strings of the element with the number.
	text func(int) string
	// most is how many elements the list at the place has at most, outer how many each list on the way has.
	most, outer int
}

// forms are one list with all the size, one with as many elements as most lists may have, and a hundred of those.
func (p place) forms() []form {
	if p.kind == reflect.String {
		return []form{{"a long one", nil, 1, 1}}
	}
	same := func(int) string { return "x" }
	distinct := func(i int) string { return fmt.Sprintf("x%x", i) }
	empty := func(int) string { return "" }
	forms := []form{{"one of many", distinct, 100000, 1}, {"one of a few", distinct, 250, 1}}
	if p.lists == 0 {
		return forms
	}
	outer := int(math.Pow(100, 1/float64(p.lists)))
	return append(forms, form{"many of the same", same, 250, outer}, form{"many of different", distinct, 250, outer}, form{"many of empty", empty, 250, outer})
}

// box returns the box with the most elements that fit into the size, of those that the form has at most, half of them, a
// quarter and so on. It tries the few first, which are made faster.
func (p place) box(f form, size int) HostileBox {
	box := HostileBox{Name: p.name + ": " + f.name}
	most := f.most
	for halvings := bits.Len(uint(most)) - 1; halvings >= 0; halvings-- {
		f.most = most >> halvings
		spec := smallSpec()
		filling := filling{form: f, size: size}
		filling.fill(reflect.ValueOf(&spec).Elem(), p.steps)
		if f.most > 1 && spec.Size() > size {
			break
		}
		box.Spec = spec
	}
	return box
}

// filling fills a place.
type filling struct {
	form
	size, count int
}

// fill fills the field that the steps lead to.
func (f *filling) fill(value reflect.Value, steps []int) {
	for value.Kind() == reflect.Pointer {
		if value.IsNil() {
			value.Set(reflect.New(value.Type().Elem()))
		}
		value = value.Elem()
	}
	switch {
	case len(steps) > 0 && value.Kind() == reflect.Slice:
		list := reflect.MakeSlice(value.Type(), f.outer, f.outer)
		for i := range f.outer {
			f.setStrings(list.Index(i))
			f.fill(list.Index(i), steps)
		}
		value.Set(list)
	case len(steps) > 0:
		f.fill(value.Field(steps[0]), steps[1:])
	case value.Kind() == reflect.Slice:
		count := min(f.most, 1+maxListBytes/int(value.Type().Elem().Size()+1))
		list := reflect.MakeSlice(value.Type(), count, count)
		for i := range count {
			f.setStrings(list.Index(i))
		}
		value.Set(list)
	case value.Kind() == reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		for i := range f.most {
			key := reflect.New(value.Type().Key()).Elem()
			key.SetString(fmt.Sprintf("%s%x", f.text(i), i))
			element := reflect.New(value.Type().Elem()).Elem()
			f.setStrings(element)
			value.SetMapIndex(key, element)
		}
	default:
		value.SetString(strings.Repeat("x", f.size-1000))
	}
}

// maxListBytes is the most memory that a list of structs is made with.
const maxListBytes = 16 << 20

// setStrings gives the strings of an element of a list a value.
func (f *filling) setStrings(value reflect.Value) {
	if f.text == nil {
		return
	}
	f.count++
	switch value.Kind() {
	case reflect.String:
		value.SetString(f.text(f.count))
	case reflect.Struct:
		for i := range value.NumField() {
			if field := value.Field(i); field.Kind() == reflect.String && value.Type().Field(i).IsExported() {
				field.SetString(f.text(f.count))
			}
		}
	}
}

// crossReferences are boxes with two lists each of which rules compare.
func crossReferences(size int) []HostileBox {
	var boxes []HostileBox
	add := func(name string, bytes int, fill func(spec *modelv1.ModelBoxSpec, count int)) {
		for count := size / bytes; ; count /= 2 {
			spec := smallSpec()
			fill(&spec, count)
			if spec.Size() <= size {
				boxes = append(boxes, HostileBox{name, spec})
				return
			}
		}
	}
	devices := func(container *corev1.Container, count int) {
		for range count {
			container.VolumeDevices = append(container.VolumeDevices, corev1.VolumeDevice{Name: "data", DevicePath: "/data"})
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: "/data"})
		}
	}
	add("devices that are mounted, in one container", 32, func(spec *modelv1.ModelBoxSpec, count int) {
		spec.Containers = []corev1.Container{{Name: "side", Image: "side:1"}}
		devices(&spec.Containers[0], count)
	})
	add("devices that are mounted, in many containers", 32, func(spec *modelv1.ModelBoxSpec, count int) {
		spec.Containers = sides(100)
		for i := range spec.Containers {
			devices(&spec.Containers[i], min(250, count/100))
		}
	})
	for _, lists := range []int{1, 50} {
		add(fmt.Sprintf("variables that the overlay has in another order, in %d containers", lists), 48, func(spec *modelv1.ModelBoxSpec, count int) {
			spec.Containers = sides(lists)
			overlay := sides(lists)
			for c := range spec.Containers {
				count := min(1000, count/lists)
				for i := range count {
					spec.Containers[c].Env = append(spec.Containers[c].Env, corev1.EnvVar{Name: fmt.Sprintf("N%d", i), Value: "a"})
					overlay[c].Env = append(overlay[c].Env, corev1.EnvVar{Name: fmt.Sprintf("N%d", count-i), Value: "b"})
				}
			}
			spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: overlay}}
		})
	}
	add("ports that lead to names", 32, func(spec *modelv1.ModelBoxSpec, count int) {
		spec.Containers = sides(100)
		for c := range spec.Containers {
			for i := range min(250, count/100) {
				spec.Containers[c].Ports = append(spec.Containers[c].Ports, corev1.ContainerPort{Name: fmt.Sprintf("p%d-%d", c, i), ContainerPort: int32(i + 1)})
			}
		}
		for i := range 250 {
			spec.Ports = append(spec.Ports, corev1.ServicePort{Name: fmt.Sprintf("q%d", i), Port: int32(i + 100), TargetPort: intstr.FromString("no-such")})
		}
	})
	add("probes of ports without a name", 32, func(spec *modelv1.ModelBoxSpec, count int) {
		spec.Containers = sides(100)
		for c := range spec.Containers {
			probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("no-such")}}}
			spec.Containers[c].LivenessProbe, spec.Containers[c].ReadinessProbe, spec.Containers[c].StartupProbe = probe, probe, probe
			for i := range min(250, count/100) {
				spec.Containers[c].Ports = append(spec.Containers[c].Ports, corev1.ContainerPort{Name: fmt.Sprintf("p%d-%d", c, i), ContainerPort: int32(i + 1)})
			}
		}
	})
	add("resources of sidecars and init containers", 64, func(spec *modelv1.ModelBoxSpec, count int) {
		spec.InitContainers = sides(100)
		for c := range spec.InitContainers {
			container := &spec.InitContainers[c]
			container.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
			if c > 50 {
				container.RestartPolicy = nil
			}
			container.Resources.Limits = corev1.ResourceList{}
			for i := range min(60, count/100) {
				container.Resources.Limits[corev1.ResourceName(fmt.Sprintf("example.com/r%d", i))] = resource.MustParse("1")
			}
		}
		spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Resources: &corev1.ResourceRequirements{
			Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}}}
	})
	add("keys of affinity terms that match and do not", 32, func(spec *modelv1.ModelBoxSpec, count int) {
		var keys []string
		selector := &metav1.LabelSelector{}
		for i := range min(250, count) {
			keys = append(keys, fmt.Sprintf("k%d", i))
			selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{Key: fmt.Sprintf("m%d", i), Operator: metav1.LabelSelectorOpExists})
		}
		var terms []corev1.PodAffinityTerm
		for range min(250, count/750) {
			terms = append(terms, corev1.PodAffinityTerm{TopologyKey: "zone", MatchLabelKeys: keys, MismatchLabelKeys: keys, LabelSelector: selector})
		}
		spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Affinity: &corev1.Affinity{
			PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms},
		}}}
	})
	add("profile annotations of many containers", 128, func(spec *modelv1.ModelBoxSpec, count int) {
		spec.Containers = sides(100)
		spec.Annotations = map[string]string{}
		for i := range min(1000, count) {
			spec.Annotations[fmt.Sprintf("container.apparmor.security.beta.kubernetes.io/side-%d", i)] = "localhost/none"
		}
	})
	add("tolerations in an annotation", 3, func(spec *modelv1.ModelBoxSpec, count int) {
		tolerations := "[" + strings.Repeat("{},", count) + "{}]"
		spec.Annotations = map[string]string{corev1.TolerationsAnnotationKey: tolerations}
		spec.PodTemplate = &corev1.PodTemplateSpec{}
	})
	return boxes
}

func sides(count int) []corev1.Container {
	var containers []corev1.Container
	for i := range count {
		containers = append(containers, corev1.Container{Name: fmt.Sprintf("side-%d", i), Image: "side:1"})
	}
	return containers
}
