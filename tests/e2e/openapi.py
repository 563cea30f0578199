"""docs/openapi.json as something that answers can be held against: the part of JSON Schema that it uses."""

import json
import re

from harness import ROOT

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"type", "description", "properties", "required", "pattern", "$ref", "format", "additionalProperties", "default",
         "items", "enum", "maxLength", "minLength", "contentEncoding", "oneOf", "allOf", "const", "maxProperties", "minItems",
         "minimum", "maximum", "example", "examples"}


class Document:
    def __init__(self):
        self.text = json.loads((ROOT / "docs" / "openapi.json").read_text())
        self.operations = {}
        for path, methods in self.text["paths"].items():
            shape = re.compile("^" + re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)) + "$")
            for method, operation in methods.items():
                self.operations[operation["operationId"]] = (method.upper(), path, shape, operation)

    def find(self, method, path):
        """The operation id of a request; literal segments win over placeholders."""
        found = [(path_text.count("{"), name) for name, (verb, path_text, shape, _) in self.operations.items()
                 if verb == method and shape.match(path)]
        return min(found)[1] if found else None

    def resolve(self, schema):
        while "$ref" in schema:
            place = self.text
            for step in schema["$ref"].removeprefix("#/").split("/"):
                place = place[step]
            schema = place
        return schema

    def request_schema(self, operation_id):
        body = self.operations[operation_id][3].get("requestBody", {})
        schema = body.get("content", {}).get("application/json", {}).get("schema")
        return self.resolve(schema) if schema else None

    def query_names(self, operation_id):
        listed = [self.resolve(one) for one in self.operations[operation_id][3].get("parameters", [])]
        return {one["name"] for one in listed if one["in"] == "query"}

    def faults_of_answer(self, operation_id, status, content_type, body):
        """What is wrong with an answer, as lines; none when it is as documented."""
        answers = self.operations[operation_id][3]["responses"]
        if str(status) not in answers:
            return [f"status {status} is not documented"]
        content = answers[str(status)].get("content", {})
        kind = content_type.split(";")[0]
        if not content and not body:
            return []
        if kind not in content:
            return [f"content type {kind!r} is not documented for {status}"]
        schema = content[kind].get("schema", {})
        if kind.endswith("json"):
            return list(self.faults(json.loads(body), schema, "body"))
        if kind == "text/plain":
            return list(self.faults(body.decode(), schema, "body"))
        return []

    def faults(self, value, schema, place):
        schema = self.resolve(schema)
        unknown = set(schema) - KNOWN
        if unknown:
            yield f"{place}: the schema has {unknown}, which is not checked"
        if not self._has_type(value, schema.get("type")):
            yield f"{place}: {value!r} is not {schema['type']}"
            return
        if "const" in schema and value != schema["const"]:
            yield f"{place}: {value!r} is not {schema['const']!r}"
        if "enum" in schema and value is not None and value not in schema["enum"]:
            yield f"{place}: {value!r} is none of {schema['enum']}"
        if "oneOf" in schema:
            fits = [not list(self.faults(value, one, place)) for one in schema["oneOf"]]
            if fits.count(True) != 1:
                yield f"{place}: fits {fits.count(True)} of oneOf"
        for one in schema.get("allOf", []):
            yield from (fault for fault in self.faults(value, one, place) if "is not documented" not in fault)
        if isinstance(value, str):
            yield from self._text_faults(value, schema, place)
        if isinstance(value, list):
            if len(value) < schema.get("minItems", 0):
                yield f"{place}: too few"
            for index, item in enumerate(value):
                yield from self.faults(item, schema.get("items", {}), f"{place}[{index}]")
        if isinstance(value, dict):
            yield from self._object_faults(value, schema, place)

    @staticmethod
    def _has_type(value, types):
        for name in [types] if isinstance(types, str) else types or [None]:
            if name is None:
                return True
            if name == "integer" and isinstance(value, int) and not isinstance(value, bool):
                return True
            if name == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
                return True
            if name in TYPES and isinstance(value, TYPES[name]):
                return True
        return False

    @staticmethod
    def _text_faults(value, schema, place):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{place}: {value!r} does not match {schema['pattern']}"
        if schema.get("format") == "date-time" and not re.match(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$", value):
            yield f"{place}: {value!r} is no date-time"
        if len(value) > schema.get("maxLength", len(value)):
            yield f"{place}: too long"

    def _object_faults(self, value, schema, place):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{place}: {name} is missing"
        known = dict(schema.get("properties", {}))
        for part in schema.get("allOf", []):
            known.update(self.resolve(part).get("properties", {}))
        more = schema.get("additionalProperties")
        for name, item in value.items():
            if name in known:
                yield from self.faults(item, known[name], f"{place}.{name}")
            elif isinstance(more, dict):
                yield from self.faults(item, more, f"{place}.{name}")
            elif known:
                yield f"{place}: {name} is not documented"
