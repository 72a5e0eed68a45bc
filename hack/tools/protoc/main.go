// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command protoc has the parts of the protocol buffer compiler that go-to-protobuf needs: it compiles one file and passes it to
// protoc-gen-gogo. With it, generating code only needs Go.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "protoc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	invocation, err := parse(args)
	if err != nil {
		return err
	}
	request, err := compile(invocation)
	if err != nil {
		return err
	}
	response, err := generate(request)
	if err != nil {
		return err
	}
	for _, file := range response.GetFile() {
		path := filepath.Join(invocation.output, file.GetName())
		if err := os.WriteFile(path, []byte(file.GetContent()), 0o644); err != nil {
			return fmt.Errorf("writing generated code: %w", err)
		}
	}
	return nil
}

// invocation has the parsed command line.
type invocation struct {
	importPaths []string
	output      string
	// file is relative to one of importPaths.
	file string
}

func parse(args []string) (*invocation, error) {
	i := &invocation{}
	var source string
	for n := 0; n < len(args); n++ {
		arg := args[n]
		switch {
		case arg == "-I" && n+1 < len(args):
			n++
			i.importPaths = append(i.importPaths, args[n])
		case strings.HasPrefix(arg, "-I"):
			i.importPaths = append(i.importPaths, strings.TrimPrefix(arg, "-I"))
		case strings.HasPrefix(arg, "--proto_path="):
			i.importPaths = append(i.importPaths, strings.TrimPrefix(arg, "--proto_path="))
		case strings.HasPrefix(arg, "--gogo_out="):
			i.output = strings.TrimPrefix(arg, "--gogo_out=")
		case strings.HasPrefix(arg, "-"), source != "":
			return nil, fmt.Errorf("unexpected argument %q", arg)
		default:
			source = arg
		}
	}
	for _, importPath := range i.importPaths {
		relative, err := filepath.Rel(importPath, source)
		if err == nil && filepath.IsLocal(relative) {
			i.file = relative
			return i, nil
		}
	}
	return nil, fmt.Errorf("%q is in none of the import paths %q", source, i.importPaths)
}

// compile returns the request for the plugin: the file, preceded by its imports.
func compile(i *invocation) (*pluginpb.CodeGeneratorRequest, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: i.importPaths}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), i.file)
	if err != nil {
		return nil, fmt.Errorf("compiling: %w", err)
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: []string{i.file}}
	seen := map[string]bool{}
	var add func(file protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		imports := file.Imports()
		for n := range imports.Len() {
			add(imports.Get(n).FileDescriptor)
		}
		request.ProtoFile = append(request.ProtoFile, descriptorOf(file))
	}
	add(files[0])
	return request, nil
}

func descriptorOf(file protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	if compiled, ok := file.(interface {
		FileDescriptorProto() *descriptorpb.FileDescriptorProto
	}); ok {
		return compiled.FileDescriptorProto()
	}
	return protodesc.ToFileDescriptorProto(file)
}

func generate(request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	input, err := proto.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	plugin := exec.Command("protoc-gen-gogo")
	plugin.Stdin = bytes.NewReader(input)
	plugin.Stderr = os.Stderr
	output, err := plugin.Output()
	if err != nil {
		return nil, fmt.Errorf("running protoc-gen-gogo: %w", err)
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(output, response); err != nil {
		return nil, fmt.Errorf("decoding the response: %w", err)
	}
	if response.GetError() != "" {
		return nil, errors.New(response.GetError())
	}
	return response, nil
}
