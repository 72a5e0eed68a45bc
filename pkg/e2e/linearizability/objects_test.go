// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	boxes  = "modelboxes"
	stacks = "modelstacks"
)

var kinds = map[string]string{boxes: "ModelBox", stacks: "ModelStack"}

// noteAnnotation is the annotation with the Note of an object.
const noteAnnotation = "example.com/note"

// imagePrefix is the prefix of the image of a box, before its Spec.
const imagePrefix = "nginx:"

// served has the fields of a served object that an Object is read from.
type served struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              servedSpec `json:"spec"`
}

type servedSpec struct {
	Image      string `json:"image,omitempty"`
	Components []struct {
		Box struct {
			Image string `json:"image"`
		} `json:"box"`
	} `json:"components,omitempty"`
}

// parse returns the name of an object and its Object.
func parse(data []byte) (string, Object, error) {
	var has served
	if err := json.Unmarshal(data, &has); err != nil {
		return "", Object{}, err
	}
	object := has.object()
	var err error
	if object.Revision, err = strconv.ParseInt(has.ResourceVersion, 10, 64); err != nil {
		return "", Object{}, fmt.Errorf("%s has the resourceVersion %q: %w", has.Name, has.ResourceVersion, err)
	}
	return has.Name, object, nil
}

// object returns the Object without its revision.
func (s *served) object() Object {
	image := s.Spec.Image
	for _, component := range s.Spec.Components {
		image = component.Box.Image
	}
	return Object{UID: s.UID, Generation: s.Generation, Spec: strings.TrimPrefix(image, imagePrefix), Note: s.Annotations[noteAnnotation]}
}

// manifest returns the body of a request.
func manifest(request Request) map[string]any {
	meta := map[string]any{"name": request.Key.Name}
	if request.Note != "" {
		meta["annotations"] = map[string]any{noteAnnotation: request.Note}
	}
	if request.UID != "" {
		meta["uid"] = request.UID
	}
	if request.Revision != 0 {
		meta["resourceVersion"] = strconv.FormatInt(request.Revision, 10)
	}
	sent := map[string]any{"metadata": meta}
	if request.Verb == Patch {
		return sent
	}
	spec := map[string]any{"image": imagePrefix + request.Spec}
	if request.Key.Resource == stacks {
		spec = map[string]any{"components": []any{map[string]any{"name": "one", "box": spec}}}
	}
	sent["apiVersion"], sent["kind"], sent["spec"] = modelv1.SchemeGroupVersion.String(), kinds[request.Key.Resource], spec
	return sent
}

// deleteOptions returns the body of a request to delete.
func deleteOptions(request Request) *metav1.DeleteOptions {
	options := &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Preconditions: &metav1.Preconditions{}}
	if request.UID != "" {
		options.Preconditions.UID = &request.UID
	}
	if request.Revision != 0 {
		revision := strconv.FormatInt(request.Revision, 10)
		options.Preconditions.ResourceVersion = &revision
	}
	return options
}

// parseDeleted returns the object in the response to a deletion.
func parseDeleted(data []byte) (Object, error) {
	var status metav1.Status
	if err := json.Unmarshal(data, &status); err != nil {
		return Object{}, err
	}
	if status.Status != metav1.StatusSuccess || status.Details == nil || status.Details.UID == "" {
		return Object{}, fmt.Errorf("the answer names no object that was deleted: %s", data)
	}
	return Object{UID: status.Details.UID}, nil
}

// parseList returns the objects of a list.
func parseList(data []byte) (revision int64, objects map[string]Object, err error) {
	var list struct {
		metav1.ListMeta `json:"metadata"`
		Items           []runtime.RawExtension `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return 0, nil, err
	}
	objects = map[string]Object{}
	for _, item := range list.Items {
		name, object, err := parse(item.Raw)
		if err != nil {
			return 0, nil, err
		}
		objects[name] = object
	}
	revision, err = strconv.ParseInt(list.ResourceVersion, 10, 64)
	return revision, objects, err
}

// patchTypes are the patch types of the verbs that patch.
var patchTypes = map[Verb]types.PatchType{Patch: types.MergePatchType, Apply: types.ApplyYAMLPatchType}
