// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package boxes is what contestants are asked for: boxes, in each API that serves them.
package boxes

import (
	"fmt"
	"io"
	"net"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/definition"
)

// Resource is the name of boxes in every API.
const Resource = "modelboxes"

// API is one that serves boxes.
type API struct {
	// Name is what reports call it.
	Name         string
	GroupVersion schema.GroupVersion
	// MediaType is what its clients send and ask for.
	MediaType string
}

// The contestants. A client of ours may use either encoding, one of custom resources has JSON.
var (
	ModelBox     = API{Name: "ModelBox", GroupVersion: modelv1.SchemeGroupVersion, MediaType: runtime.ContentTypeProtobuf}
	ModelBoxJSON = API{Name: "ModelBox, JSON", GroupVersion: modelv1.SchemeGroupVersion, MediaType: runtime.ContentTypeJSON}
	CRD          = API{Name: "CRD", GroupVersion: definition.GroupVersion, MediaType: runtime.ContentTypeJSON}
)

// Kind is the kind of boxes in the API.
func (a API) Kind() schema.GroupVersionKind { return a.GroupVersion.WithKind("ModelBox") }

// scheme has the Go types of boxes as the types of the API.
func (a API) scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(a.GroupVersion, &modelv1.ModelBox{}, &modelv1.ModelBoxList{})
	metav1.AddToGroupVersion(scheme, a.GroupVersion)
	return scheme
}

// Encode returns a box as clients of the API send it.
func (a API) Encode(box *modelv1.ModelBox) ([]byte, error) { return a.encode(box, a.MediaType) }

// EncodeJSON returns a box as patches have it, in every API.
func (a API) EncodeJSON(box *modelv1.ModelBox) ([]byte, error) {
	return a.encode(box, runtime.ContentTypeJSON)
}

func (a API) encode(box *modelv1.ModelBox, mediaType string) ([]byte, error) {
	codecs := serializer.NewCodecFactory(a.scheme()).WithoutConversion()
	info, found := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !found {
		return nil, fmt.Errorf("no encoder for %s", mediaType)
	}
	encoded, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, a.GroupVersion), box)
	if err != nil {
		return nil, fmt.Errorf("encoding a box as %s: %w", mediaType, err)
	}
	return encoded, nil
}

// Frames reads the events of a watch one by one, each as the bytes that encode it.
func (a API) Frames(stream io.ReadCloser) (io.ReadCloser, error) {
	info, found := runtime.SerializerInfoForMediaType(serializer.NewCodecFactory(a.scheme()).SupportedMediaTypes(), a.MediaType)
	if !found || info.StreamSerializer == nil {
		return nil, fmt.Errorf("no decoder for a stream of %s", a.MediaType)
	}
	return info.StreamSerializer.Framer.NewFrameReader(stream), nil
}

// Client is one client of an API, with a connection of its own.
type Client struct {
	rest.Interface
	transport http.RoundTripper
	traffic   *traffic
}

// NewClient returns a client whose requests nothing but the server holds up.
func (a API) NewClient(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.GroupVersion = &a.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(a.scheme()).WithoutConversion()
	config.ContentType, config.AcceptContentTypes = a.MediaType, a.MediaType
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	traffic := &traffic{}
	// Clients with the same function would share their connection.
	config.Dial = traffic.dialer(&net.Dialer{})
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client of %s: %w", a.Name, err)
	}
	return &Client{Interface: client, transport: client.Client.Transport, traffic: traffic}, nil
}

// Disconnect closes the connection when nothing is asked for over it. The next request makes a new one.
func (c *Client) Disconnect() { utilnet.CloseIdleConnectionsFor(c.transport) }

// Received is how many bytes have come over the connection so far, encrypted and compressed as they are.
func (c *Client) Received() int64 { return c.traffic.received.Load() }

// NewClients returns several clients.
func (a API) NewClients(config *rest.Config, count int) ([]*Client, error) {
	var clients []*Client
	for range count {
		client, err := a.NewClient(config)
		if err != nil {
			return nil, err
		}
		clients = append(clients, client)
	}
	return clients, nil
}
