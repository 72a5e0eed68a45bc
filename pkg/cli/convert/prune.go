// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// prune removes from a part of a spec the fields that have the default of the Kubernetes API, and the empty ones. Deployments have
// all defaults, which their authors have not written.
func prune(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			prune(field)
			if isEmpty(key, field) || isDefault(value, key) {
				delete(value, key)
			}
		}
	case []any:
		for _, element := range value {
			prune(element)
		}
	}
}

// isEmpty returns whether a field says nothing. An object without fields may say something, as the object of emptyDir does.
func isEmpty(key string, value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0 && slices.Contains([]string{"metadata", "resources", "spec"}, key)
	}
	return false
}

// defaults are the defaults of fields that have the same default wherever their name occurs, as in
// k8s.io/kubernetes/pkg/apis/core/v1/defaults.go.
var defaults = map[string]any{
	"terminationMessagePath":   corev1.TerminationMessagePathDefault,
	"terminationMessagePolicy": string(corev1.TerminationMessageReadFile),
	"protocol":                 string(corev1.ProtocolTCP),
	"defaultMode":              int64(corev1.ConfigMapVolumeSourceDefaultMode),
	"scheme":                   string(corev1.URISchemeHTTP),
}

var probeDefaults = map[string]any{
	"timeoutSeconds": int64(1), "periodSeconds": int64(10), "successThreshold": int64(1), "failureThreshold": int64(3),
}

// isDefault returns whether a field of an object has its default.
func isDefault(object map[string]any, key string) bool {
	value := object[key]
	switch key {
	case "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold":
		return isProbe(object) && value == probeDefaults[key]
	case "apiVersion":
		return object["fieldPath"] != nil && value == "v1"
	case "targetPort":
		return value == object["port"]
	case "imagePullPolicy":
		image, _ := object["image"].(string)
		return image != "" && value == string(defaultPullPolicy(image))
	}
	is, ok := defaults[key]
	return ok && value == is
}

func isProbe(object map[string]any) bool {
	for _, handler := range []string{"httpGet", "tcpSocket", "exec", "grpc"} {
		if object[handler] != nil {
			return true
		}
	}
	return false
}

// defaultPullPolicy returns the default pull policy of the API for an image.
func defaultPullPolicy(image string) corev1.PullPolicy {
	name := image[strings.LastIndex(image, "/")+1:]
	if strings.Contains(name, "@") {
		return corev1.PullIfNotPresent
	}
	if _, tag, ok := strings.Cut(name, ":"); !ok || tag == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}
