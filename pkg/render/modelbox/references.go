// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The kinds of the objects that pods refer to.
const (
	ConfigMapKind = "ConfigMap"
	SecretKind    = "Secret"
)

// Reference is a ConfigMap or a Secret that the pods of a box refer to.
type Reference struct {
	// Kind is ConfigMapKind or SecretKind.
	Kind, Name string
	// Keys are the keys that the pods use. Nil: they use all of them.
	Keys sets.Set[string]
}

// ReferenceHashes is the value of modelv1.ReferencesAnnotation, in JSON.
type ReferenceHashes struct {
	// Of is ReferencesID of the references that Objects is about.
	Of string `json:"of"`
	// Objects has the hashes of the values of each object by their keys, by KIND/NAME. A nil map: the object does not exist.
	Objects map[string]map[string]string `json:"objects"`
}

// RecordedReferences returns the hashes in the pod template of the box. They are zero if it has none, or others than the server
// writes.
func RecordedReferences(spec *modelv1.ModelBoxSpec) ReferenceHashes {
	if spec.PodTemplate == nil {
		return ReferenceHashes{}
	}
	return ReadReferences(spec.PodTemplate.Annotations[modelv1.ReferencesAnnotation])
}

// ReadReferences returns the hashes in a value of modelv1.ReferencesAnnotation. They are zero if it has none.
func ReadReferences(annotation string) ReferenceHashes {
	var recorded ReferenceHashes
	if err := json.Unmarshal([]byte(annotation), &recorded); err != nil {
		return ReferenceHashes{}
	}
	return recorded
}

// AwaitsReferences returns whether the pods of the box must stay as they are for now: a change of a reference restarts them, and the pod
// template does not have the hashes of these references yet. The box must be defaulted and valid.
func AwaitsReferences(box *modelv1.ModelBox) (bool, error) {
	if !box.Spec.RestartsOnReferences() || box.Spec.Paused {
		return false, nil
	}
	references, err := References(box)
	if err != nil {
		return false, err
	}
	return RecordedReferences(&box.Spec).Of != ReferencesID(references), nil
}

// ReferencesID identifies sorted references. It does not depend on the data of the objects.
func ReferencesID(references []Reference) string {
	sum := sha256.New()
	for i := range references {
		reference := &references[i]
		fmt.Fprintf(sum, "%s/%s %t %q\n", reference.Kind, reference.Name, reference.Keys == nil, sets.List(reference.Keys))
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}

// DescribeReferenceChanges names the objects and the keys whose hashes differ between two values of modelv1.ReferencesAnnotation, such as
// "Secret db (password)". It returns "" if there are none.
func DescribeReferenceChanges(before, now ReferenceHashes) string {
	names := sets.KeySet(before.Objects).Union(sets.KeySet(now.Objects))
	var changes []string
	for _, name := range sets.List(names) {
		kind, object, _ := strings.Cut(name, "/")
		if change := describeHashes(before.Objects[name], now.Objects[name]); change != "" {
			changes = append(changes, strings.TrimSpace(kind+" "+object)+" ("+change+")")
		}
	}
	return strings.Join(changes, ", ")
}

// describeHashes describes the difference between two hashes of an object. It returns "" if there is none.
func describeHashes(before, now map[string]string) string {
	switch {
	case before == nil && now == nil:
		return ""
	case before == nil:
		return "created"
	case now == nil:
		return "deleted"
	}
	var changed []string
	for _, key := range sets.List(sets.KeySet(before).Union(sets.KeySet(now))) {
		if before[key] != now[key] {
			changed = append(changed, key)
		}
	}
	return strings.Join(changed, ", ")
}

// References returns the ConfigMaps and Secrets that the pods of the box refer to in variables and volumes, sorted by kind and name. It
// leaves out the ConfigMaps of spec.configs. The box must be defaulted and valid.
func References(box *modelv1.ModelBox) ([]Reference, error) {
	withoutConfigs := *box
	withoutConfigs.Spec.Configs = nil
	template, err := PodTemplate(&withoutConfigs)
	if err != nil {
		return nil, err
	}
	found := references{}
	for i := range template.Spec.InitContainers {
		found.addContainer(&template.Spec.InitContainers[i])
	}
	for i := range template.Spec.Containers {
		found.addContainer(&template.Spec.Containers[i])
	}
	for i := range template.Spec.Volumes {
		found.addVolume(&template.Spec.Volumes[i].VolumeSource)
	}
	sorted := make([]Reference, 0, len(found))
	for _, reference := range found {
		sorted = append(sorted, *reference)
	}
	slices.SortFunc(sorted, func(a, b Reference) int { return strings.Compare(a.Kind+"/"+a.Name, b.Kind+"/"+b.Name) })
	return sorted, nil
}

// references are references by kind and name.
type references map[[2]string]*Reference

func (r references) addContainer(container *corev1.Container) {
	for i := range container.EnvFrom {
		if source := container.EnvFrom[i].ConfigMapRef; source != nil {
			r.addAll(ConfigMapKind, source.Name)
		}
		if source := container.EnvFrom[i].SecretRef; source != nil {
			r.addAll(SecretKind, source.Name)
		}
	}
	for i := range container.Env {
		source := container.Env[i].ValueFrom
		switch {
		case source == nil:
		case source.ConfigMapKeyRef != nil:
			r.addKey(ConfigMapKind, source.ConfigMapKeyRef.Name, source.ConfigMapKeyRef.Key)
		case source.SecretKeyRef != nil:
			r.addKey(SecretKind, source.SecretKeyRef.Name, source.SecretKeyRef.Key)
		}
	}
}

func (r references) addVolume(volume *corev1.VolumeSource) {
	switch {
	case volume.ConfigMap != nil:
		r.addItems(ConfigMapKind, volume.ConfigMap.Name, volume.ConfigMap.Items)
	case volume.Secret != nil:
		r.addItems(SecretKind, volume.Secret.SecretName, volume.Secret.Items)
	case volume.Projected != nil:
		for i := range volume.Projected.Sources {
			if source := volume.Projected.Sources[i].ConfigMap; source != nil {
				r.addItems(ConfigMapKind, source.Name, source.Items)
			}
			if source := volume.Projected.Sources[i].Secret; source != nil {
				r.addItems(SecretKind, source.Name, source.Items)
			}
		}
	}
}

// addItems adds the keys of a volume, which has all keys if it names none.
func (r references) addItems(kind, name string, items []corev1.KeyToPath) {
	if len(items) == 0 {
		r.addAll(kind, name)
	}
	for i := range items {
		r.addKey(kind, name, items[i].Key)
	}
}

func (r references) addAll(kind, name string) {
	r[[2]string{kind, name}] = &Reference{Kind: kind, Name: name}
}

func (r references) addKey(kind, name, key string) {
	reference, isKnown := r[[2]string{kind, name}]
	if !isKnown {
		reference = &Reference{Kind: kind, Name: name, Keys: sets.New[string]()}
		r[[2]string{kind, name}] = reference
	}
	if reference.Keys != nil {
		reference.Keys.Insert(key)
	}
}
