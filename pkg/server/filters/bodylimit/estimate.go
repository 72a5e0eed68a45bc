// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package bodylimit

import (
	"bytes"
	"cmp"
	"errors"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversionscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/decodedsize"
)

// MaxCopiedBytes is how many bytes the operations "copy" of a JSON patch may add together. The patch itself need not have
// them, so they count for every patch that may have such an operation.
const MaxCopiedBytes = 64 << 10

// cborByteBytes is how much memory each byte of CBOR can take: it is an empty object of the largest type. The server takes
// CBOR with an alpha feature gate only.
const cborByteBytes = 1 << 10

var protobufPrefix = []byte("k8s\x00")

// errMalformedEnvelope is what the decoder says of an object that is not in the envelope of Kubernetes.
var errMalformedEnvelope = errors.New("the body is no object in the protobuf encoding of Kubernetes")

// estimator estimates how much memory the body of a request takes once it is decoded.
type estimator struct {
	scheme *runtime.Scheme
	// kinds are the kinds of the resources.
	kinds map[schema.GroupVersionResource]schema.GroupVersionKind
	// limit is the most memory that a body may take, and maxBytes how many bytes it may have.
	limit, maxBytes int64
}

func newEstimator(scheme *runtime.Scheme, limit, maxBytes int64) *estimator {
	e := &estimator{scheme: scheme, kinds: map[schema.GroupVersionResource]schema.GroupVersionKind{}, limit: limit, maxBytes: maxBytes}
	for kind := range scheme.AllKnownTypes() {
		if kind.Version != runtime.APIVersionInternal {
			plural, singular := meta.UnsafeGuessKindToResource(kind)
			e.kinds[plural] = kind
			e.kinds[singular.GroupVersion().WithResource(singular.Resource+"es")] = kind // such as modelboxes
		}
	}
	return e
}

// estimate returns how many bytes of memory the body takes, or an error of package decodedsize. It takes the same decision
// as the handlers about what the body is. A body that they refuse before they decode it takes nothing.
func (e *estimator) estimate(r *http.Request, info *apirequest.RequestInfo, body []byte) (int64, error) {
	if info.Verb == "patch" {
		return e.ofPatch(r, info, body)
	}
	mediaType := r.Header.Get("Content-Type")
	if parsed, _, err := mime.ParseMediaType(mediaType); err == nil {
		mediaType = parsed
	}
	switch mediaType {
	case "", runtime.ContentTypeJSON:
		return e.ofJSON(info, body)
	case runtime.ContentTypeYAML:
		asJSON, parsing, err := decodedsize.YAMLToJSON(body, e.limit, e.maxBytes)
		if err != nil || asJSON == nil {
			return parsing, err
		}
		object, err := e.ofJSON(info, asJSON)
		return max(object, parsing), err
	case runtime.ContentTypeProtobuf:
		return e.ofProtobuf(info, body)
	case runtime.ContentTypeCBOR:
		return e.ofCBOR(body)
	}
	return 0, nil
}

// ofPatch estimates a patch, which has the type of the resource.
func (e *estimator) ofPatch(r *http.Request, info *apirequest.RequestInfo, body []byte) (int64, error) {
	structType := e.structType(info, schema.GroupVersionKind{})
	mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch types.PatchType(mediaType) {
	case types.JSONPatchType:
		return decodedsize.OfJSONPatch(body, structType, MaxCopiedBytes, e.limit)
	case types.MergePatchType, types.StrategicMergePatchType:
		return decodedsize.OfJSON(body, structType, e.limit)
	case types.ApplyYAMLPatchType:
		return e.ofApply(structType, body)
	case types.ApplyCBORPatchType:
		return e.ofCBOR(body)
	}
	return 0, nil
}

// applyFactor is how much more memory server-side apply takes: it has an error for each value of a wrong type.
const applyFactor = 3

// ofApply estimates a configuration for server-side apply. It may take twice the limit, and nothing else meanwhile.
func (e *estimator) ofApply(structType reflect.Type, body []byte) (int64, error) {
	asJSON, parsing, err := decodedsize.YAMLToJSON(body, e.limit, e.maxBytes)
	if err != nil || asJSON == nil {
		return parsing, err
	}
	object, err := decodedsize.OfJSON(asJSON, structType, 2*e.limit/applyFactor)
	return min(max(applyFactor*object, parsing), e.limit), err
}

func (e *estimator) ofJSON(info *apirequest.RequestInfo, body []byte) (int64, error) {
	declared, err := json.DefaultMetaFactory.Interpret(body)
	if err != nil {
		return 0, nil //nolint:nilerr // the decoder returns the same error
	}
	return decodedsize.OfJSON(body, e.structType(info, *declared), e.limit)
}

func (e *estimator) ofProtobuf(info *apirequest.RequestInfo, body []byte) (int64, error) {
	envelope := &runtime.Unknown{}
	encoded, hasPrefix := bytes.CutPrefix(body, protobufPrefix)
	if !hasPrefix || envelope.Unmarshal(encoded) != nil {
		return 0, errMalformedEnvelope
	}
	return decodedsize.OfProtobuf(envelope.Raw, e.structType(info, envelope.GroupVersionKind()), e.limit)
}

func (e *estimator) ofCBOR(body []byte) (int64, error) {
	if bytes := cborByteBytes * int64(len(body)); bytes <= e.limit {
		return bytes, nil
	}
	return 0, &decodedsize.TooLargeError{Limit: e.limit}
}

// structType returns the type that a body is decoded into which declares a kind, or as much of one as it does.
func (e *estimator) structType(info *apirequest.RequestInfo, declared schema.GroupVersionKind) reflect.Type {
	scheme, kind := e.scheme, e.kinds[schema.GroupVersionResource{Group: info.APIGroup, Version: info.APIVersion, Resource: info.Resource}]
	switch {
	case info.Verb == "delete" || info.Verb == "deletecollection":
		scheme, kind = metainternalversionscheme.Scheme, metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	case info.Subresource == "scale":
		kind = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	}
	if declared.Version == "" && declared.Group == "" {
		declared.Group, declared.Version = kind.Group, kind.Version
	}
	declared.Kind = cmp.Or(declared.Kind, kind.Kind)
	for _, gvk := range []schema.GroupVersionKind{declared, kind} {
		if structType, isKnown := scheme.AllKnownTypes()[gvk]; isKnown {
			return structType
		}
	}
	return reflect.TypeFor[metav1.PartialObjectMetadata]()
}
